import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { explain } from '../parts/explain.ts'
import { Icon } from '../parts/icon.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { searchQuery } from '../requests/search.ts'
import { useSession } from '../requests/session.ts'
import { type AnyState, STATE_LOOKS } from '../theme/marks.ts'
import { Group, Item, Note } from './palette-item.tsx'
import { actWords, canBe, type Hit, nameOfHit, verbIn } from './palette-words.ts'
import { useActOnHit } from './use-act-on-hit.ts'

const PAGE_OF = { task: '/tasks/', mission: '/missions/', agent: '/agents/', run: '/runs/' }

const addressOf = ({ kind, id, key }: Hit) =>
  PAGE_OF[kind] + encodeURIComponent(kind === 'task' ? (key ?? id) : id)

/** What the server finds, and what can be done with it if the text begins with an act. */
export function Found(props: { typed: string; onOpen: (to: string) => void; onClose: () => void }) {
  const { typed, onOpen, onClose } = props
  const asked = verbIn(typed)
  const wanted = useDeferredValue(asked?.rest ?? typed)
  const { data, error } = useQuery({
    ...searchQuery(wanted),
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
  })
  const act = useActOnHit()
  const { whyNot } = useSession()
  if (typed === '') return null
  if (error) return <Note>{explain(error).title}</Note>
  if (!data) return null
  if (data.items.length === 0) return <Note>No results for “{wanted}”.</Note>
  const verb = asked?.verb
  const able = verb === undefined ? [] : data.items.filter((hit) => canBe(verb, hit))
  return (
    <>
      {verb !== undefined && able.length > 0 && (
        <Group heading="Do">
          {able.map((hit) => (
            <Item
              key={`${hit.kind} ${hit.id}`}
              onSelect={() => {
                onClose()
                act(verb, hit)
              }}
              value={`${verb} ${hit.kind} ${hit.id}`}
              whyNot={whyNot('operate')}
            >
              <Icon className="text-muted" name={verb === 'resume' ? 'play' : verb} />
              <span className="min-w-0 flex-1 truncate">{actWords(verb, hit)}</span>
              <span className="text-label text-faint">{hit.kind}</span>
            </Item>
          ))}
        </Group>
      )}
      <Group heading="In this workspace">
        {data.items.map((hit) => (
          <Item
            key={`${hit.kind} ${hit.id}`}
            onSelect={() => onOpen(addressOf(hit))}
            value={`${hit.kind} ${hit.id}`}
          >
            <HitWords hit={hit} />
          </Item>
        ))}
        {data.isBounded && <Note>Only the newest tasks were searched.</Note>}
      </Group>
    </>
  )
}

function HitWords({ hit }: { hit: Hit }) {
  const { kind, title, state, error, mission } = hit
  const name = nameOfHit(hit)
  return (
    <>
      {state in STATE_LOOKS && <StateMark state={state as AnyState} />}
      {name && <span className="shrink-0 font-mono text-row text-muted">{name}</span>}
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="truncate">{title}</span>
        {error !== null && <span className="truncate text-label text-bad">{error}</span>}
      </span>
      {mission !== null && <span className="max-w-40 truncate text-label text-muted">{mission}</span>}
      <span className="text-label text-faint">{kind}</span>
    </>
  )
}
