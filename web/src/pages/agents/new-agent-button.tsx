import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { useSession } from '../../requests/session.ts'

export function NewAgentButton() {
  const go = useGo()
  const { can } = useSession()
  return (
    <Button
      disabledReason={can('configure_agents') ? null : 'This needs the right to configure agents.'}
      icon="plus"
      kind="primary"
      onClick={() => go('/agents/new')}
      size="small"
    >
      New agent
    </Button>
  )
}
