import type { WorkLabels } from './labels.ts'
import type { Instruments } from './registry.ts'

/** Counts under the labels of a project; 0: of none. It may happen a moment later, when the names are known. */
export type Count = (count: (labels: WorkLabels, all: Instruments) => void, projectId: number) => void
