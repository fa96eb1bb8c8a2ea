/** Which tasks can be worked on at the same time: steps by the longest way. Pure, and in time with the number of edges. */

interface Steps {
  /** The step of each task, from 0. */
  readonly stepOf: readonly number[]
  /** Places of the tasks of each step. */
  readonly steps: readonly (readonly number[])[]
}

type WaitsFor = readonly (readonly number[])[]

/** Each task after all it waits for, without those of a cycle and what waits for them. */
export function inOrder(waitsFor: WaitsFor): number[] {
  const left = waitsFor.map(({ length }) => length)
  const next: number[][] = waitsFor.map(() => [])
  waitsFor.forEach((upstream, place) => {
    for (const on of upstream) next[on]!.push(place)
  })
  const order = left.flatMap((count, place) => (count === 0 ? [place] : []))
  for (const place of order)
    for (const after of next[place]!) {
      left[after]! -= 1
      if (left[after] === 0) order.push(after)
    }
  return order
}

/** A plan never has cycles; while one is edited it may, and its tasks are the last step. */
export function stepsOf(waitsFor: WaitsFor): Steps {
  const stepOf = waitsFor.map(() => -1)
  const steps: number[][] = []
  for (const place of inOrder(waitsFor))
    stepOf[place] = waitsFor[place]!.reduce((most, on) => Math.max(most, stepOf[on]! + 1), 0)
  const last = stepOf.reduce((most, step) => Math.max(most, step), -1) + 1
  stepOf.forEach((step, place) => {
    if (step === -1) stepOf[place] = last
    const own = stepOf[place]!
    steps[own] ??= []
    steps[own].push(place)
  })
  return { stepOf, steps }
}
