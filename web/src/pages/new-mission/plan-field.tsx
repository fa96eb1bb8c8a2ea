import { useEffect } from 'react'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { draftFromText } from '../../things/mission/plan-edit/plan-draft.ts'
import { PlanEditor } from '../../things/mission/plan-edit/plan-editor.tsx'
import type { PlanProblem } from '../../things/mission/plan-edit/plan-problems.ts'
import { type Json, tasksIn } from '../../things/mission/plan-edit/plan-value.ts'
import { usePlanDraft } from '../../things/mission/plan-edit/use-plan-draft.ts'
import { EXAMPLE_PLANS } from './plan-text.ts'

/** What is sent, and why it cannot be sent. */
export interface WrittenPlan {
  readonly plan: Json | null
  readonly whyNot: string | null
}

/** A plan that a person writes for a new mission, from an example. It is checked while it is written, and nothing is created. */
export function PlanField(props: {
  /** The name of its draft. */
  name: string
  onChange: (written: WrittenPlan) => void
  /** What the server found when the mission was made. */
  refused: readonly PlanProblem[] | null
}) {
  const { name, onChange, refused } = props
  const drafting = usePlanDraft(name, null, () => draftFromText(EXAMPLE_PLANS[0]!.text))
  const { plan, fault } = drafting.draft
  useEffect(() => {
    const whyNot = fault
      ? `The YAML of the plan cannot be read from line ${fault.line}.`
      : tasksIn(plan).length === 0
        ? 'The plan needs a task.'
        : null
    onChange({ plan, whyNot })
  }, [plan, fault, onChange])
  return (
    <div className="flex w-full min-w-0 flex-col gap-3">
      <div>
        <Menu
          align="start"
          groups={[
            EXAMPLE_PLANS.map(({ words, text }) => ({
              words,
              run: () => drafting.set(() => draftFromText(text)),
            })),
          ]}
          title="In place of what is written"
          trigger={
            <Button icon="chevron-down" size="small">
              Start from an example
            </Button>
          }
        />
      </div>
      <PlanEditor drafting={drafting} refused={refused} />
    </div>
  )
}
