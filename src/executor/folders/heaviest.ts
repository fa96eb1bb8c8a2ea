import { inSlices } from './slices.ts'

/**
 * Which folders of new files to leave out so that the rest is within a bound: the deepest folder that is enough by itself
 * (`app/node_modules/` and not `app/`), or else the heaviest ones.
 */

interface Weighed {
  path: string
  weight: number
}

class Node {
  weight = 0
  readonly children = new Map<string, Node>()
  readonly files: string[] = []
}

export interface HeavyFolder {
  folder: string
  paths: string[]
}

/** A folder ends with a slash; the files directly in a folder that has others too end with a star. */
export async function heaviestFolders(files: readonly Weighed[], most: number): Promise<HeavyFolder[]> {
  if (files.reduce((sum, { weight }) => sum + weight, 0) <= most) return []
  const root = new Node()
  await inSlices(files, (file) => add(root, file))
  const heavy: HeavyFolder[] = []
  while (root.weight > most) heavy.push(await cut(root, root.weight - most))
  return heavy
}

const LOOSE = '*'

function add(root: Node, { path, weight }: Weighed): void {
  const parts = path.split('/')
  parts.pop()
  let node = root
  root.weight += weight
  // No name of a folder contains a slash: the files directly in it have a key of their own.
  for (const part of [...parts.map((name) => `${name}/`), LOOSE]) {
    const child = node.children.get(part) ?? new Node()
    node.children.set(part, child)
    child.weight += weight
    node = child
  }
  node.files.push(path)
}

/** Takes one folder out of the tree. */
async function cut(root: Node, excess: number): Promise<HeavyFolder> {
  const way: [name: string, node: Node][] = []
  for (let node = root; ; ) {
    const heaviest = [...node.children].reduce((a, b) => (b[1].weight > a[1].weight ? b : a), ['', NOTHING])
    const isOnly = node.children.size === 1 && heaviest[0] === LOOSE
    if (heaviest[1] === NOTHING || (way.length > 0 && (heaviest[1].weight < excess || isOnly))) break
    way.push(heaviest)
    node = heaviest[1]
  }
  const [name, node] = way.at(-1)!
  ;(way.at(-2)?.[1] ?? root).children.delete(name)
  root.weight -= node.weight
  for (const [, above] of way.slice(0, -1)) above.weight -= node.weight
  return { folder: way.map(([part]) => part).join(''), paths: await filesIn(node) }
}

const NOTHING = new Node()

async function filesIn(top: Node): Promise<string[]> {
  const found: string[] = []
  await inSlices(nodesIn(top), ({ files }) => {
    for (const path of files) found.push(path)
  })
  return found
}

function* nodesIn(top: Node): Generator<Node> {
  const waiting = [top]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node
    for (const child of node.children.values()) waiting.push(child)
  }
}
