/** The heading of one layer in a table of tasks. */
export function LayerHead({ layer, tasks, columns }: { layer: number; tasks: number; columns: number }) {
  return (
    <tr className="@max-[800px]:block">
      <th
        className="px-2 pt-3 pb-1 text-left text-label font-medium text-faint @max-[800px]:block"
        colSpan={columns}
        scope="rowgroup"
      >
        {layer === 0 ? 'At once' : `Step ${layer + 1}`}
        {tasks > 1 && `, ${tasks} tasks in parallel`}
      </th>
    </tr>
  )
}
