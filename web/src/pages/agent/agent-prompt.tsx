import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Field } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import type { AgentRead } from './use-agent.ts'

const PREVIEW_AFTER_MS = 300

const promptOf = ({ adapterConfig }: AgentRead) =>
  typeof adapterConfig?.promptTemplate === 'string' ? adapterConfig.promptTemplate : ''

/** What an agent is told: its template, the variables, and what it would read, with sensitive values left out. */
export function AgentPrompt({ agent }: { agent: AgentRead }) {
  const { can } = useSession()
  const [text, setText] = useState(() => promptOf(agent))
  const [writtenFrom, setWrittenFrom] = useState(() => promptOf(agent))
  const saved = promptOf(agent)
  const isConflict = saved !== writtenFrom && text !== writtenFrom && text !== saved
  const take = () => {
    setWrittenFrom(saved)
    setText(saved)
  }
  // What nobody edits here follows what others save.
  if (saved !== writtenFrom && !isConflict) take()
  const area = useRef<HTMLTextAreaElement>(null)
  const save = useMutation({
    mutationFn: () => {
      const { promptTemplate: _before, ...rest } = agent.adapterConfig ?? {}
      const adapterConfig = text.trim() === '' ? rest : { ...rest, promptTemplate: text }
      return api().put('/agents/:id', {
        params: { id: agent.slug },
        body: { adapterConfig },
        ifMatch: `"${agent.version}"`,
      })
    },
    onSuccess: ({ slug }) => toast({ kind: 'done', title: `The prompt of ${slug} is saved.` }),
  })
  if (!can('configure_agents'))
    return (
      <p className="p-6 text-row text-muted">
        What agents are told is shown to those who may configure agents. An admin or owner of this workspace
        can.
      </p>
    )
  const insert = (path: string) => {
    const at = area.current?.selectionStart ?? text.length
    setText(`${text.slice(0, at)}{{${path}}}${text.slice(area.current?.selectionEnd ?? at)}`)
    area.current?.focus()
  }
  return (
    <div className="grid min-h-0 flex-1 gap-6 overflow-y-auto px-6 py-5 max-sm:px-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Field hint="Empty: the default prompt, which tells the task and how to report." label="Template">
          <TextInput
            className="font-mono"
            onChange={(event) => setText(event.target.value)}
            ref={area}
            rows={14}
            spellCheck={false}
            value={text}
          />
        </Field>
        {save.error && <ProblemBox error={save.error} />}
        {isConflict && (
          <section
            aria-label="Changed meanwhile"
            className="flex flex-col gap-3 rounded-card border border-line bg-raised p-4"
            role="alert"
          >
            <p className="text-body font-medium">The prompt was changed while you edited it.</p>
            <Diff after={text} before={saved} label="Saved and yours" />
            <div className="flex flex-wrap gap-2">
              <Button onClick={() => setWrittenFrom(saved)} size="small">
                Keep mine
              </Button>
              <Button kind="quiet" onClick={take} size="small">
                Take what is saved
              </Button>
            </div>
          </section>
        )}
        <div className="flex gap-2">
          <Button
            busy={save.isPending}
            disabledReason={
              isConflict
                ? 'Decide first which version to keep.'
                : text === saved
                  ? 'Nothing was changed.'
                  : null
            }
            kind="primary"
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </div>
        <Variables onInsert={insert} />
      </div>
      <Preview text={text} />
    </div>
  )
}

function Variables({ onInsert }: { onInsert: (path: string) => void }) {
  const { data } = useQuery({
    queryKey: ['prompt-variables'],
    queryFn: ({ signal }) => api().get('/prompts/variables', { signal }),
  })
  const variables = data?.items.filter(({ aliasOf }) => aliasOf === undefined) ?? []
  return (
    <section aria-label="Variables" className="flex flex-col gap-2">
      <h2 className="text-row font-medium">Variables</h2>
      <ul className="flex flex-wrap gap-1.5">
        {variables.map(({ path, description, sensitive }) => (
          <li key={path}>
            <button
              className="touchable inline-flex h-6 items-center gap-1 rounded-chip bg-hover px-1.5 font-mono text-label hover:text-accent"
              onClick={() => onInsert(path)}
              title={sensitive ? `${description} Sensitive: previews leave it out.` : description}
              type="button"
            >
              {sensitive && <Icon className="text-ask" name="warning" size={12} />}
              {path}
              {sensitive && <span className="sr-only">, sensitive</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The text as it was when nobody typed for a moment. */
function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PREVIEW_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

function Preview({ text }: { text: string }) {
  const settled = useSettledText(text)
  const { data, error, refetch } = useQuery({
    queryKey: ['prompt-preview', settled],
    queryFn: ({ signal }) => api().post('/prompts/preview', { body: { promptTemplate: settled }, signal }),
    enabled: settled.trim() !== '',
    placeholderData: (before) => before,
    gcTime: 0,
  })
  if (settled.trim() === '')
    return (
      <p className="text-row text-muted">Write a template, and what the agent would read is shown here.</p>
    )
  if (error && !data) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={6} />
  return (
    <section aria-label="Preview" className="flex min-w-0 flex-col gap-2">
      <h2 className="text-row font-medium">Preview with example values</h2>
      {data.problems.map(({ message, line, column, position }) => (
        <p className="flex gap-1.5 text-row text-bad" key={position}>
          <Icon className="mt-0.5" name="warning" size={14} />
          Line {line}, column {column}: {message}
        </p>
      ))}
      {data.sensitive.map(({ path, line, position }) => (
        <p className="flex gap-1.5 text-row text-ask" key={position}>
          <Icon className="mt-0.5" name="warning" size={14} />
          {path} in line {line} is sensitive: the agent reads its value, and may repeat it.
        </p>
      ))}
      {data.prompt !== null && (
        <pre className="min-w-0 rounded-card border border-line bg-raised p-3 font-mono text-row break-words whitespace-pre-wrap">
          {data.prompt}
        </pre>
      )}
    </section>
  )
}
