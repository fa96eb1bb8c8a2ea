import { type Chunk, compressed, Palette, type Part, type Picture, pngOf, readPng } from './png.ts'

/** Pictures that follow each other, as one PNG. Of each, only the part that differs from the previous one is stored. */
export function animated(pngs: readonly Buffer[], frameMs: number): Buffer {
  const frames = withoutRepeats(pngs.map(readPng))
  const palette = new Palette(frames.map(({ picture }) => picture))
  const { picture: first } = frames[0]!
  const chunks: Chunk[] = [['acTL', numbers(frames.length, 0)]]
  let sequence = 0
  for (const [i, { picture, times }] of frames.entries()) {
    const part =
      i === 0
        ? { x: 0, y: 0, width: first.width, height: first.height }
        : changed(frames[i - 1]!.picture, picture)
    const data = compressed(picture, palette, part)
    chunks.push(['fcTL', control(sequence++, part, frameMs * times)])
    chunks.push(i === 0 ? ['IDAT', data] : ['fdAT', Buffer.concat([numbers(sequence++), data])])
  }
  return pngOf(first, palette, chunks)
}

interface Frame {
  picture: Picture
  /** How many frames in a row it is shown. */
  times: number
}

function withoutRepeats(pictures: readonly Picture[]): Frame[] {
  const frames: Frame[] = []
  for (const picture of pictures) {
    const last = frames.at(-1)
    if (last && Buffer.compare(bytesOf(last.picture), bytesOf(picture)) === 0) last.times += 1
    else frames.push({ picture, times: 1 })
  }
  return frames
}

const bytesOf = ({ pixels }: Picture) => Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength)

/** The smallest rectangle outside of which both are the same. */
function changed(before: Picture, after: Picture): Part {
  const { width, height } = after
  let [left, top, right, bottom] = [width, height, -1, -1]
  for (let i = 0; i < after.pixels.length; i++) {
    if (before.pixels[i] === after.pixels[i]) continue
    const [x, y] = [i % width, Math.floor(i / width)]
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

function control(sequence: number, { x, y, width, height }: Part, ms: number): Buffer {
  const times = Buffer.alloc(6)
  times.writeUInt16BE(ms, 0)
  times.writeUInt16BE(1_000, 2)
  return Buffer.concat([numbers(sequence, width, height, x, y), times])
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4)
  return bytes
}
