/** Which tasks of a plan can be worked on at the same time. */

interface Planned {
  readonly tempId: string
  readonly dependsOn: readonly { readonly on: string }[]
}

/** Layers by the longest path from a task that waits for none of the plan. A plan never has cycles; with one, this still ends. */
export function layersOf<Task extends Planned>(tasks: readonly Task[]): Task[][] {
  const layers: Task[][] = []
  const placed = new Set<string>()
  const known = new Set(tasks.map(({ tempId }) => tempId))
  let left = [...tasks]
  while (left.length > 0) {
    const isReady = ({ dependsOn }: Task) => dependsOn.every(({ on }) => placed.has(on) || !known.has(on))
    const ready = left.filter(isReady)
    const layer = ready.length > 0 ? ready : left
    layers.push(layer)
    for (const { tempId } of layer) placed.add(tempId)
    left = left.filter(({ tempId }) => !placed.has(tempId))
  }
  return layers
}

/** The heading of one layer in a table of tasks. */
export function LayerHead({ layer, tasks, columns }: { layer: number; tasks: number; columns: number }) {
  return (
    <tr className="@max-[800px]:block">
      <th
        className="px-2 pt-3 pb-1 text-left text-label font-medium text-faint @max-[800px]:block"
        colSpan={columns}
        scope="rowgroup"
      >
        Step {layer + 1}
        {tasks > 1 && `, ${tasks} tasks in parallel`}
      </th>
    </tr>
  )
}
