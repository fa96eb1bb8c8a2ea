import { api } from '../../requests/api.ts'
import { useAct } from '../use-act.ts'
import { type Budget, nameOfBudget } from './budget.ts'

/** Acts on budgets that ask for nothing but a yes. */
export function useBudgetActs() {
  const remove = useAct(
    (budget: Budget) => api().delete('/budgets/:id', { params: { id: budget.id } }),
    (_, budget) => ({
      title: `${nameOfBudget(budget)} has one budget less.`,
      ...(budget.state === 'blocked' && { text: 'What it had stopped goes on.' }),
    }),
  )
  const allowModel = useAct(
    (budget: Budget) =>
      api().post('/budgets/:id/allow-model', {
        params: { id: budget.id },
        body: { model: budget.unknownModel ?? '' },
      }),
    (_, budget) => ({
      title: `${budget.unknownModel} may work under this budget.`,
      text: 'What it costs is not counted.',
    }),
  )
  const stopAll = useAct(
    (reason: string) => api().post('/budgets/stop-all', { body: reason === '' ? {} : { reason } }),
    () => ({ title: 'All spending is stopped.', text: 'Runs that are under way stop within seconds.' }),
  )
  const allowAll = useAct(
    () => api().post('/budgets/allow-all'),
    () => ({ title: 'Spending is allowed again.', text: 'What was stopped goes on.' }),
  )
  return { remove, allowModel, stopAll, allowAll }
}
