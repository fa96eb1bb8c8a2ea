import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Loading } from '../../parts/loaded.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery } from '../../requests/names.ts'
import { useSession } from '../../requests/session.ts'
import {
  bodyOf,
  type Existing,
  type ExistingEdge,
  namesCommand,
  placeWords,
  withAdded,
} from '../../things/mission/plan-edit/added-task.ts'
import { EMPTY_ROSTER } from '../../things/mission/plan-edit/agent-notes.ts'
import { EdgesField } from '../../things/mission/plan-edit/edges-field.tsx'
import { type FormOf, SwitchField, TextField } from '../../things/mission/plan-edit/form-fields.tsx'
import { type Json, textIn } from '../../things/mission/plan-edit/plan-value.ts'
import { ReviewFields, WhoFields } from '../../things/mission/plan-edit/who-fields.tsx'
import type { Mission } from '../../things/mission/progress.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'

interface Graph {
  nodes: readonly Existing[]
  edges: readonly ExistingEdge[]
}

/** The tasks that there are, with what they wait for: also those that come while the form is open. */
const useGraph = (id: string) =>
  useSnapshot<Graph>(
    ['mission-graph', id],
    async ({ signal }) => {
      const { body, seq } = await api().read('/missions/:id/graph', { params: { id }, signal })
      const { nodes, edges } = body
      if (!Array.isArray(nodes) || !Array.isArray(edges)) return { body: { nodes: [], edges: [] }, seq }
      return { body: { nodes: nodes.filter(({ purpose }) => purpose === 'work'), edges }, seq }
    },
    { follows: about.missionGraph(id) },
  )

const NOTHING: Json = { tempId: 'new' }

/** One more task for a mission that runs, and where it goes. */
export function AddTask({ mission, onClose }: { mission: Mission; onClose: () => void }) {
  const { id } = mission
  const written = useDraft<Json>(`add-task:${id}`, NOTHING)
  const { value: task, set: setTask } = written
  const read = useGraph(id)
  const { data: graph } = read
  const { whyNot } = useSession()
  const tasks = useMemo(() => withAdded(graph?.nodes ?? [], graph?.edges ?? [], task), [graph, task])
  const discard = () => {
    written.drop()
    onClose()
  }
  const add = useAct(
    () => api().post('/tasks', { body: bodyOf(task, id) }),
    ({ title }) => {
      discard()
      return { title: 'The task is added.', text: title }
    },
    { onRefused: shownInPlace },
  )
  const refusal =
    add.whyNot ??
    (namesCommand(task) ? whyNot('configure_agents') : null) ??
    (textIn(task, 'title').trim() === '' ? 'A title is needed.' : null)
  const submit = () => refusal === null && !add.isBusy && add.run()
  return (
    <Dialog
      actions={
        <>
          {written.isKept && (
            <Button kind="quiet" onClick={discard}>
              Discard
            </Button>
          )}
          <Button onClick={onClose}>Back</Button>
          <Button
            busy={add.isBusy}
            disabledReason={refusal}
            kind="primary"
            onClick={submit}
            shortcut="Ctrl Enter"
          >
            Add the task
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="It begins as soon as what it waits for has ended. The plan stays as it is."
      title="Add a task to the mission"
      width="wide"
    >
      {graph ? (
        <AddedTask onSubmit={submit} setTask={setTask} task={task} tasks={tasks}>
          <p aria-live="polite" className="rounded-card bg-go-tint px-3 py-2 text-row text-go">
            {placeWords(tasks, graph.nodes)}
          </p>
        </AddedTask>
      ) : (
        <Loading read={read} rows={6} />
      )}
      {add.error && (
        <div className="mt-4">
          <ProblemBox error={add.error} />
        </div>
      )}
    </Dialog>
  )
}

function AddedTask(props: {
  task: Json
  tasks: readonly Json[]
  setTask: (next: (before: Json) => Json) => void
  onSubmit: () => void
  children: React.ReactNode
}) {
  const { task, tasks, setTask, onSubmit, children } = props
  const { data } = useQuery(agentNamesQuery)
  const roster = data ? { agents: data.items, isCut: data.nextCursor !== null } : EMPTY_ROSTER
  const form: FormOf = { task, problems: [], change: setTask }
  return (
    <form
      className="@container flex flex-col gap-4"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit()
      }}
      onSubmit={(event) => event.preventDefault()}
    >
      <TextField field="title" form={form} label="Title" />
      <TextField
        field="description"
        form={form}
        hint="What the agent needs to know."
        label="Description"
        rows={4}
      />
      <TextField
        field="successCriteria"
        form={form}
        hint="What a reviewer checks."
        label="Done when"
        rows={2}
      />
      <EdgesField at={tasks.length - 1} form={form} tasks={tasks} />
      {children}
      <WhoFields form={form} hasPreferred={false} roster={roster} />
      <ReviewFields form={form} roster={roster} />
      <div className="grid grid-cols-3 gap-3 @max-[420px]:grid-cols-1">
        <TextField field="taskType" form={form} label="Type" placeholder="other" />
        <TextField field="model" form={form} label="Model" placeholder="the agent’s" />
        <TextField field="maxUsd" form={form} group="budget" label="Budget in dollars" placeholder="none" />
      </div>
      <SwitchField
        field="optional"
        form={form}
        hint="Its failure does not fail the mission."
        label="Optional"
      />
    </form>
  )
}
