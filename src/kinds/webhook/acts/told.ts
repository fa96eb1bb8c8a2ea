import { messageOf } from '../../log.ts'
import { eventView } from '../../task/acts/views.ts'
import type { EventWithTask } from '../../task/record.ts'
import type { Told } from '../rules/messages.ts'

/** Events as they are told. */

/** What has a page of its own in the web app. */
const PAGES: Readonly<Record<string, string>> = {
  ...{ task: 'tasks', mission: 'missions', run: 'runs', agent: 'agents', project: 'projects' },
}

function pageOf(appUrl: string, { entityType, entityId }: Pick<Told, 'entityType' | 'entityId'>): string {
  const page = PAGES[entityType]
  return page === undefined || entityId === null
    ? appUrl
    : `${appUrl}/${page}/${encodeURIComponent(entityId)}`
}

export const entityText = ({ entityType, entityId }: Pick<Told, 'entityType' | 'entityId'>) =>
  `${entityType}:${entityId ?? ''}`

export const entityIn = (text: string) => {
  const colon = text.indexOf(':')
  return { entityType: text.slice(0, colon), entityId: text.slice(colon + 1) || null }
}

export function toldOf(event: EventWithTask, workspaceId: string, appUrl: string): Told {
  const view = eventView(event, null)
  const { seq, type, at, entityType, entityId, taskId, missionId, runId, generation, from, to, actor } = view
  return {
    ...{ type, at, seq, workspaceId, entityType, entityId, taskId, missionId, runId, generation, from, to },
    ...{ actor, sentence: messageOf(event), url: pageOf(appUrl, view) },
  }
}
