import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { Problem } from '../../../../src/client/client.ts'
import { dropDraft } from '../../parts/drafts.ts'
import { showRefusal } from '../../parts/show-refusal.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { DECISIONS, type Decision, type InboxItem } from './kinds.ts'

/** What a person decided, bound to what they saw. There is no undo: the answer goes to the agent or mission that waits for it. */

/** Names of what is written about an item and not sent yet. An answer may be written on the page of its task as well. */
export const answerDraft = ({ about, generation }: Pick<InboxItem, 'about' | 'generation'>) =>
  `answer:${about.taskId}:${generation}`
export const budgetDraft = ({ id }: Pick<InboxItem, 'id'>) => `new-limits:${id}`

export interface Given {
  decision: Decision
  comment?: string
  answer?: string
  /** Who gives another verdict. */
  agent?: string
  /** The next attempt starts over. */
  fresh?: boolean
  budget?: { maxUsd?: string; maxTokens?: number }
  /** A part of another budget. */
  move?: { from: string; usd?: string; tokens?: number }
}

/** What changed between reading and answering. */
export interface Change {
  seen: InboxItem
  detail: string
  state: string
  /** What waits there now, if anything does. */
  now: InboxItem | null
}

/** The key of what was seen: the same thing may wait again later. */
export const seenKey = ({ id, generation, digest }: InboxItem) => `${id} ${generation} ${digest}`

const boundTo = ({ generation, digest }: InboxItem) => ({
  ...(generation === null ? {} : { generation }),
  ...(digest === null ? {} : { digest }),
})

function changeIn(error: unknown, seen: InboxItem): Change | null {
  if (!(error instanceof Problem) || error.code !== 'CHANGED_SINCE') return null
  const { state, item } = error.body as { state?: string; item?: InboxItem | null }
  return { seen, detail: error.detail, state: state ?? '', now: item ?? null }
}

export function useAnswer(onRefused: (item: InboxItem, change: Change | null) => void) {
  const queries = useQueryClient()
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  const forget = useCallback(
    (keys: readonly string[]) =>
      setSent((before) => new Set([...before].filter((key) => !keys.includes(key)))),
    [],
  )
  const readAgain = () => void queries.invalidateQueries({ queryKey: ['inbox'] })
  const one = useMutation({
    mutationFn: ({ item, given }: { item: InboxItem; given: Given }) =>
      api().post('/inbox/:id/answer', {
        params: { id: item.id },
        body: { ...given, ...boundTo(item) },
      }),
    onMutate: ({ item }) => setSent((before) => new Set(before).add(seenKey(item))),
    onSuccess: (_, { item, given }) => {
      for (const draft of [answerDraft(item), budgetDraft(item)]) dropDraft(draft)
      toast({ id: 'answered', kind: 'done', title: `${DECISIONS[given.decision].done}: ${item.title}` })
    },
    onError: (error, { item }) => {
      forget([seenKey(item)])
      readAgain()
      const change = changeIn(error, item)
      onRefused(item, change)
      if (change) return
      showRefusal(error)
    },
  })
  const several = useMutation({
    mutationFn: ({
      items,
      decision,
      comment,
      fresh,
    }: {
      items: readonly InboxItem[]
      decision: Decision
      comment: string
      fresh: boolean
    }) =>
      api().post('/inbox/answer', {
        body: {
          decision,
          ...(comment === '' ? {} : { comment }),
          ...(fresh && { fresh }),
          items: items.map((item) => ({ id: item.id, ...boundTo(item) })),
        },
      }),
    onMutate: ({ items }) => setSent((before) => new Set([...before, ...items.map(seenKey)])),
    onSuccess: ({ items, done }, { decision, items: seen }) => {
      const refused = items.filter((item) => !item.done)
      forget(seen.filter(({ id }) => refused.some((one) => one.id === id)).map(seenKey))
      toast({
        kind: refused.length === 0 ? 'done' : 'bad',
        title: `${DECISIONS[decision].done}: ${done} of ${items.length}`,
        text: refused[0]?.detail ?? undefined,
      })
    },
    onError: (error, { items }) => {
      forget(items.map(seenKey))
      showRefusal(error)
    },
    onSettled: readAgain,
  })
  return { answer: one.mutate, answerSeveral: several.mutate, sent }
}
