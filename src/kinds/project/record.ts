import { boolean, instant, int, orNull, type RecordOf, text, uuid } from '../../pure/fields.ts'

/** How many agents may work on a part of a project at once. */
const TRACK = {
  track: text(),
  maxAgents: orNull(int()),
  sequential: boolean(),
  purpose: orNull(text()),
}

export interface Track extends RecordOf<typeof TRACK> {}

export const TRACK_FIELDS = { projectId: int(), ...TRACK }

export const PROJECT_FIELDS = {
  slug: text(),
  projectId: int(),
  uuid: uuid(),
  name: text(),
  createdAt: instant(),
  /** How many tokens a changed line may take; null: as usual. */
  tokensPerLine: orNull(int()),
}

export interface ProjectRecord extends RecordOf<typeof PROJECT_FIELDS> {
  tracks: readonly Track[]
}
