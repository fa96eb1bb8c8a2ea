import { type Refusal, refuse } from '../../pure/errors.ts'
import { secretWasGiven } from '../../pure/repeated.ts'
import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { SignInRecord } from './record.ts'
import { decideSignIn, type SignInCommand } from './rules.ts'

export interface SignInTypes {
  record: SignInRecord
  command: SignInCommand
  granted: KindGranted & {
    readonly record: SignInRecord
    /** Sessions that ended. */
    readonly ended: readonly string[]
  }
  extra: {
    /** When the key expires or was revoked. */
    keyEndsAt: number | null
  }
}

declare module '../kind.ts' {
  interface KindTypes {
    signIn: SignInTypes
  }
}

/** Sign-ins of people, by key. Each key has a record, if only an empty one. */
export const signInKind: Kind<SignInTypes> = {
  keyOf: ({ keyId }) => keyId,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide(before, { key }, command, { now, seen }) {
    const decided = before
      ? decideSignIn(before, command, { now, keyEndsAt: seen?.keyEndsAt ?? null })
      : { refusal: refuse('NOT_FOUND', `There is no key ${key} in this workspace.`), record: null }
    return { ...decided, events: [], settle: () => null }
  },
  granted: ({ record, before }) => {
    const left = new Set(record!.sessions.map(({ sessionId }) => sessionId))
    const ended = before!.sessions.map(({ sessionId }) => sessionId).filter((id) => !left.has(id))
    return { ok: true, reason: 'DONE', record: record!, isNew: false, ended }
  },
  repeated: ({ record: { keyId } }, command): Refusal | null => {
    if (command.kind === 'makeLink') return secretWasGiven(`a sign-in link of key ${keyId}`)
    return command.kind === 'makeTicket' ? secretWasGiven(`a ticket of session ${command.sessionId}`) : null
  },
}
