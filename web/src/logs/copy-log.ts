import { copyText } from '../parts/copyable.tsx'
import { toast } from '../parts/toasts.tsx'
import { countText } from '../parts/wording.ts'
import type { Line } from './lines.ts'
import { plainText } from './settle.ts'

/** Copies what is in memory: the selected lines cannot be more than that. */
export async function copyLines(lines: readonly Line[], hasColours: boolean): Promise<void> {
  const text = lines.map(({ raw }) => (hasColours ? raw : plainText(raw))).join('\n')
  if (await copyText(text))
    toast({ kind: 'done', title: `Copied ${countText(lines.length)} lines around the place that is shown.` })
}
