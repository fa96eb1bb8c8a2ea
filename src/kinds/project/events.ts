import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { count } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'project', namedIn: 'project' }, { project: text })

export const projectEvents = {
  project_created: event.info({}, ({ project }) => `The project ${project} was created.`),
  project_changed: event.info({ tokensPerLine: z.int().nullable() }, ({ project, tokensPerLine }) =>
    tokensPerLine === null
      ? `A changed line of ${project} may take as many tokens as usual.`
      : `A changed line of ${project} may take ${count(tokensPerLine, 'token')}.`,
  ),
  project_planned: event.info(
    { created: z.int(), updated: z.int() },
    ({ project, created, updated }) =>
      `The plan of ${project} created ${count(created, 'task')} and updated ${updated}.`,
  ),
  track_changed: event.info(
    { track: text, maxAgents: z.int().nullable() },
    ({ project, track, maxAgents }) =>
      maxAgents === null
        ? `Track ${track} of ${project} may have any number of agents.`
        : `Track ${track} of ${project} may have ${count(maxAgents, 'agent')}.`,
  ),
}

type ProjectEvents = typeof projectEvents
declare module '../events.ts' {
  interface Catalogue extends ProjectEvents {}
}
