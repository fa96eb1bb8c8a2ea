import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { useSession } from '../../requests/session.ts'

export function NewAgentButton() {
  const go = useGo()
  const { whyNot } = useSession()
  return (
    <Button
      disabledReason={whyNot('configure_agents')}
      icon="plus"
      kind="primary"
      onClick={() => go('/agents/new')}
      size="small"
    >
      New agent
    </Button>
  )
}
