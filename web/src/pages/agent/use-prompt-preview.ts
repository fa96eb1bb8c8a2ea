import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { DEFAULT_TEMPLATE } from '../../../../src/kinds/run/prompts/texts.ts'
import type { TemplateProblem } from '../../forms/template-tags.ts'
import { api } from '../../requests/api.ts'

const PREVIEW_AFTER_MS = 300
const NO_PROBLEMS: readonly TemplateProblem[] = []

/** Whose name, title and role stand in it: an agent's, or those of one that is being written. */
type Reader = { agent: string } | { newAgent: { slug?: string; title?: string; role?: string } }

/** The text once typing has paused for a moment. */
function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PREVIEW_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/**
 * What the server says about a template: its problems, or the prompt for a sample task. Without a template of its own, an agent has
 * the default one.
 */
export function usePromptPreview(text: string, reader: Reader, isWanted = true) {
  const settled = useSettledText(text)
  const settledReader = useSettledText(JSON.stringify(reader))
  const isDefault = settled.trim() === ''
  const promptTemplate = isDefault ? DEFAULT_TEMPLATE : settled
  const { data, error, refetch } = useQuery({
    queryKey: ['prompt-preview', settledReader, promptTemplate],
    queryFn: ({ signal }) =>
      api().post('/prompts/preview', {
        body: { promptTemplate, ...(JSON.parse(settledReader) as Reader) },
        signal,
      }),
    placeholderData: (before) => before,
    enabled: isWanted,
    gcTime: 0,
  })
  // What is asked of the default one is not of what is written.
  const problems = isDefault ? NO_PROBLEMS : (data?.problems ?? NO_PROBLEMS)
  return { isDefault, answer: data, problems, error, retry: () => void refetch() }
}

export type PromptPreviewing = ReturnType<typeof usePromptPreview>
