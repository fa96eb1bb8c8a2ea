import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { type AlertCause, causeOf, THRESHOLD_CAUSES } from '../alert/causes.ts'
import * as api from './api.ts'
import { setThresholds } from './postgres.ts'
import type { ThresholdRecord } from './record.ts'
import type { ThresholdCommand } from './rules.ts'

const view = (cause: AlertCause, own: ThresholdRecord | undefined) => {
  const { of, value, isOn } = causeOf(cause).threshold!
  if (!own) return { cause, value, of, isOn, setBy: 'default' as const }
  return { cause, value: own.value, of, isOn: own.isOn, setBy: 'workspace' as const }
}

const command = async (kernel: ServerKernel, caller: Caller, cause: AlertCause, command: ThresholdCommand) =>
  granted(await kernel.run(caller, { on: 'threshold', key: cause, uuid: '', command })).record

export const thresholdActs = actsOf(api)({
  async listThresholds({ kernel }, { caller }) {
    const own = await setThresholds(kernel.store.readers, caller.workspaceId)
    const items = THRESHOLD_CAUSES.map((cause) =>
      view(
        cause,
        own.find((one) => one.cause === cause),
      ),
    )
    return { items, nextCursor: null }
  },
  async setThreshold({ kernel }, { params: { cause }, body, caller }) {
    return view(cause, await command(kernel, caller, cause, { kind: 'set', ...body }))
  },
  async removeThreshold({ kernel }, { params: { cause }, caller }) {
    await command(kernel, caller, cause, { kind: 'remove' })
  },
})
