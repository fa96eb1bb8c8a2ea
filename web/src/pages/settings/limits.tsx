import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import {
  changesIn,
  isChangedSince,
  type LimitDraft,
  type LimitsInUse,
  type Limits as LimitValues,
  refusalIn,
} from './limit-fields.ts'
import { LimitsChanged } from './limits-changed.tsx'
import { LimitFields } from './limits-form.tsx'

interface Read {
  readonly limits: LimitsInUse
  readonly etag: string | null
}

/** The limits of the workspace with their use beside them, read and changed. */
export function Limits() {
  const read = useSnapshot<Read>(
    ['limits'],
    async ({ signal }) => {
      const { body, seq, etag } = await api().read('/limits', { signal })
      return { body: { limits: body, etag }, seq }
    },
    { follows: about.limits },
  )
  return (
    <Loaded read={read} rowHeight={56} rows={8}>
      {({ limits, etag }) => <Form etag={etag} limits={limits} onSaved={() => void read.refetch()} />}
    </Loaded>
  )
}

interface Written {
  readonly draft: LimitDraft
  /** What was saved when the writing began: what differs from it was changed by somebody else. */
  readonly base: { limits: LimitValues; etag: string | null } | null
}
const NOTHING: Written = { draft: {}, base: null }

function Form({ limits, etag, onSaved }: { limits: LimitsInUse; etag: string | null; onSaved: () => void }) {
  const { can } = useSession()
  const written = useDraft<Written>('limits', NOTHING)
  const { draft, base } = written.value
  const { changes, problems } = changesIn(draft, limits)
  const count = Object.keys(changes).length
  const save = useAct(
    () => api().patch('/limits', { body: changes, ...(base?.etag ? { ifMatch: base.etag } : {}) }),
    () => {
      written.drop()
      onSaved()
      return 'The limits are saved.'
    },
    {
      right: 'admin',
      onRefused: (error) => {
        if (isChangedSince(error)) onSaved()
        return shownInPlace()
      },
    },
  )
  const refusal = refusalIn(isChangedSince(save.error) ? null : save.error)
  const isStale = base !== null && base.etag !== etag
  const change = (next: LimitDraft) => {
    save.reset()
    written.set(({ draft: before, base: first }) => ({
      draft: { ...before, ...next },
      base: first ?? { limits, etag },
    }))
  }
  const discard = () => {
    save.reset()
    written.drop()
  }
  const firstProblem = Object.values(problems)[0]
  const missing =
    firstProblem ?? (count === 0 ? 'Nothing is changed.' : isStale ? 'Look at what changed first.' : null)
  const submit = () => {
    if (missing === null && save.whyNot === null && !save.isBusy) save.run()
  }
  return (
    <form
      className="flex max-w-200 flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p className="text-row text-muted">
        {can('instance')
          ? 'You run this server, so you can also widen what this workspace may use.'
          : 'A workspace can narrow what it may use. Whoever runs this server can widen it.'}
      </p>
      {isStale && base && (
        <LimitsChanged
          base={base.limits}
          draft={draft}
          onKeep={() => written.set({ draft, base: { limits, etag } })}
          onTake={discard}
          saved={limits}
        />
      )}
      <LimitFields
        draft={draft}
        isReadOnly={!can('admin')}
        limits={limits}
        onChange={change}
        problems={{ ...refusal.fields, ...problems }}
      />
      {refusal.rest !== null && (
        <p className="text-row font-medium text-bad" role="alert">
          Nothing was changed. {refusal.rest}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button busy={save.isBusy} disabledReason={save.whyNot ?? missing} kind="primary" onClick={submit}>
          Save limits
        </Button>
        {written.isKept && <Button onClick={discard}>Undo changes</Button>}
      </div>
    </form>
  )
}
