import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Select } from '../../parts/select.tsx'
import { agentNamesQuery } from '../../requests/names.ts'
import { statePhrase } from '../../theme/marks.ts'
import { isOwnAgent } from '../../things/agent/own-agent.ts'
import { buttonWords, type InboxDetail } from '../../things/inbox/kinds.ts'
import type { Given } from '../../things/inbox/use-answer.ts'

/** Who gives another verdict: any agent that may, or a named one. The maker of the result never judges it. */
export function AskVerifier(props: {
  item: InboxDetail
  onAnswer: (given: Given) => void
  onClose: () => void
}) {
  const { item, onAnswer, onClose } = props
  const [agent, setAgent] = useState('')
  const read = useQuery(agentNamesQuery)
  const { data } = read
  const send = () => {
    onAnswer({ decision: 'verify', ...(agent !== '' && { agent }) })
    onClose()
  }
  const others = data?.items.filter(
    ({ slug, state }) =>
      state !== 'terminated' && !isOwnAgent(slug) && slug !== item.askedBy && slug !== item.waitsFor,
  )
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button kind="primary" onClick={send}>
            {buttonWords('verify', item)}
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="The result gets another verdict."
      title={`${buttonWords('verify', item)}: ${item.title}`}
      width="small"
    >
      {!others && <Loading read={read} rows={1} />}
      {others && (
        <Field label="Who judges it">
          <Select
            onChange={setAgent}
            options={[
              { value: '', words: 'Any agent that may' },
              ...others.map(({ slug, state }) => ({
                value: slug,
                words: state === 'idle' || state === 'running' ? slug : `${slug} (${statePhrase(state)})`,
              })),
            ]}
            value={agent}
          />
        </Field>
      )}
    </Dialog>
  )
}
