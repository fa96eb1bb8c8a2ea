import { Icon } from '../../parts/icon.tsx'
import { gapsOf, gapsText } from '../../things/changes/work-words.ts'
import type { Run } from './use-run.ts'

/** One line above the log when the work of the run is not complete; its details say more. */
export function WorkFlag({ run, onShow }: { run: Run; onShow: () => void }) {
  const words = run.folder && gapsText(gapsOf(run.folder))
  if (!words) return null
  return (
    <p className="mx-6 mb-3 flex items-center gap-2 rounded-card bg-ask-tint px-3 py-1.5 text-row font-medium text-ask max-sm:mx-4">
      <Icon className="shrink-0" name="warning" />
      <span className="min-w-0 flex-1 wrap-anywhere">{words}</span>
      <button className="touchable shrink-0 underline" onClick={onShow} type="button">
        Details
      </button>
    </p>
  )
}
