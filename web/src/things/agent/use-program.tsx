import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type Ref, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { explain } from '../../parts/explain.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../use-act.ts'
import { type Made, MadeAgent } from './made-agent.tsx'
import { freeSlug, makeAgent } from './make-agent.ts'
import type { Cli } from './onboarding.ts'
import { useTest } from './use-adapters.ts'

const NAMES = ['agent-names']

/** Creates an agent from an installed program, tests it, and says what the test found. */
export function UseProgram(props: { programs: readonly Cli[]; actRef: Ref<HTMLButtonElement> | undefined }) {
  const { programs, actRef } = props
  const queries = useQueryClient()
  const [type, setType] = useState<string | null>(null)
  const { value: folder, set: setFolder, drop } = useDraft('program-folder', '')
  const [made, setMade] = useState<Made | null>(null)
  const test = useTest()
  const chosen = programs.find(({ adapterType }) => adapterType === type) ?? programs[0]
  const { data } = useQuery({
    queryKey: NAMES,
    queryFn: ({ signal }) => api().get('/agents', { query: { limit: 200 }, signal }),
    enabled: chosen !== undefined,
    gcTime: 0,
  })
  const slug = data ? freeSlug(data.items.map((agent) => agent.slug)) : null
  const make = useAct(
    ({ id, adapterType }: { id: string; adapterType: string }) =>
      makeAgent(id, adapterType, { adapterConfig: folder.trim() === '' ? {} : { cwd: folder.trim() } }),
    ({ slug, adapterType }) => {
      setMade({ slug, adapterType })
      drop()
      test.mutate({ type: adapterType, agent: slug })
      void queries.invalidateQueries({ queryKey: NAMES })
    },
    { right: 'configure_agents', onRefused: shownInPlace },
  )
  if (!chosen) return null
  return (
    <>
      {made && <MadeAgent agent={made} test={test} />}
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (slug !== null && !make.whyNot) make.run({ id: slug, adapterType: chosen.adapterType })
        }}
      >
        {programs.length > 1 && (
          <Field label="Program">
            <Select
              onChange={setType}
              options={programs.map(({ adapterType, command }) => ({ value: adapterType, words: command }))}
              value={chosen.adapterType}
            />
          </Field>
        )}
        <div className="min-w-48 flex-1">
          <Field
            label="Folder it works in"
            problem={make.error ? explain(make.error).detail || explain(make.error).title : null}
          >
            <TextInput
              autoComplete="off"
              onChange={(event) => setFolder(event.target.value)}
              placeholder="~/my-project, or empty for a new folder"
              spellCheck={false}
              value={folder}
            />
          </Field>
        </div>
        <Button
          busy={make.isBusy || slug === null}
          disabledReason={make.whyNot}
          icon="plus"
          kind="primary"
          ref={actRef}
          type="submit"
          {...(actRef ? { shortcut: 'Enter' } : {})}
        >
          Use {chosen.command} as “{slug ?? 'dev-1'}”
        </Button>
      </form>
    </>
  )
}
