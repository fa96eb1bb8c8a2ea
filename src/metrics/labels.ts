import type pg from 'pg'
import { type LabelNames, labelNames } from './postgres.ts'

/** The series of everything that has none of its own. */
export const OTHER = 'other'

export interface WorkLabels {
  workspace: string
  /** Empty: no project. */
  project: string
}

/**
 * What workspaces and projects are called in labels. Only the oldest have series of their own, so that every node has the same ones, and
 * memory stays bounded however many there are.
 */
export class Labels {
  readonly #readers: pg.Pool
  readonly #most: number
  #names: LabelNames = { workspaces: new Map(), projects: new Map() }
  #reading: Promise<void> | null = null

  constructor(readers: pg.Pool, most: number) {
    this.#readers = readers
    this.#most = most
  }

  /** Null: the name is not known yet; `learn` reads it. */
  of(workspaceId: number, projectId: number): WorkLabels | null {
    const workspace = this.workspace(workspaceId)
    if (workspace === null || projectId === 0 || workspace === OTHER)
      return workspace === null ? null : { workspace, project: projectId === 0 ? '' : OTHER }
    const { projects } = this.#names
    const project = projects.get(projectId) ?? (projects.size < this.#most ? null : OTHER)
    return project === null ? null : { workspace, project }
  }

  workspace(workspaceId: number): string | null {
    const { workspaces } = this.#names
    return workspaces.get(workspaceId)?.uuid ?? (workspaces.size < this.#most ? null : OTHER)
  }

  /** Those with series of their own. */
  get named(): readonly { workspaceId: number; uuid: string; name: string }[] {
    return [...this.#names.workspaces].map(([workspaceId, names]) => ({ workspaceId, ...names }))
  }

  /** The projects with series of their own. */
  get projects(): readonly number[] {
    return [...this.#names.projects.keys()]
  }

  /** Reads what is new. One read for all that ask meanwhile: whoever asks after it began asks again. */
  learn(): Promise<void> {
    this.#reading ??= labelNames(this.#readers, this.#most)
      .then((names) => {
        this.#names = names
      })
      .finally(() => {
        this.#reading = null
      })
    return this.#reading
  }
}
