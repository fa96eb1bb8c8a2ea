import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** Pictures of pages as small PNGs: 256 colours at most, since a page has few. */

export interface Picture {
  width: number
  height: number
  /** One number a pixel: red, green and blue. */
  pixels: Uint32Array
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const MOST_COLOURS = 256

/** Reads what a browser writes: eight bits a channel, not interlaced. */
export function readPng(png: Buffer): Picture {
  const data: Buffer[] = []
  let [width, height, channels] = [0, 0, 0]
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const body = png.subarray(at + 8, at + 8 + length)
    const type = png.toString('latin1', at + 4, at + 8)
    if (type === 'IHDR') {
      ;[width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)]
      channels = body[9] === 6 ? 4 : 3
    }
    if (type === 'IDAT') data.push(body)
    at += 12 + length
  }
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * channels, height, channels)
  const pixels = new Uint32Array(width * height)
  for (let i = 0; i < pixels.length; i++) {
    const at = i * channels
    pixels[i] = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
  }
  return { width, height, pixels }
}

function unfilter(raw: Buffer, stride: number, height: number, channels: number): Uint8Array {
  const out = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < channels ? 0 : out[at - channels]!
      const up = y === 0 ? 0 : out[at - stride]!
      const corner = x < channels || y === 0 ? 0 : out[at - stride - channels]!
      out[at] = raw[y * (stride + 1) + 1 + x]! + predicted(filter, left, up, corner)
    }
  }
  return out
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

export class Palette {
  readonly colours: number[]
  readonly #indexOf = new Map<number, number>()

  /** The colours that these pictures use most. */
  constructor(pictures: readonly Picture[]) {
    const counts = new Map<number, number>()
    for (const { pixels } of pictures)
      for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
    const byUse = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
    this.colours = byUse.slice(0, MOST_COLOURS)
    for (const [index, colour] of this.colours.entries()) this.#indexOf.set(colour, index)
  }

  /** Its place, or that of the colour that is nearest to it. */
  indexOf(colour: number): number {
    const known = this.#indexOf.get(colour)
    if (known !== undefined) return known
    let nearest = 0
    for (let i = 1; i < this.colours.length; i++)
      if (distance(this.colours[i]!, colour) < distance(this.colours[nearest]!, colour)) nearest = i
    this.#indexOf.set(colour, nearest)
    return nearest
  }
}

function distance(a: number, b: number): number {
  const [red, green, blue] = [16, 8, 0].map((bits) => ((a >> bits) & 255) - ((b >> bits) & 255))
  return red! ** 2 + green! ** 2 + blue! ** 2
}

export interface Part {
  x: number
  y: number
  width: number
  height: number
}

/** The compressed rows of a part of a picture. */
export function compressed({ width, pixels }: Picture, palette: Palette, part: Part): Buffer {
  const stride = part.width + 1
  const rows = Buffer.alloc(stride * part.height)
  for (let y = 0; y < part.height; y++)
    for (let x = 0; x < part.width; x++)
      rows[y * stride + 1 + x] = palette.indexOf(pixels[(part.y + y) * width + part.x + x]!)
  return deflateSync(rows, { level: 9 })
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(body.length, 0)
  named.copy(framed, 4)
  framed.writeUInt32BE(crc32(named), named.length + 4)
  return framed
}

export type Chunk = [type: string, body: Buffer]

/** A PNG with these chunks after its header and its colours. */
export function pngOf({ width, height }: Picture, palette: Palette, chunks: readonly Chunk[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits a pixel, each a place in the palette.
  header[8] = 8
  header[9] = 3
  const colours = Buffer.from(
    palette.colours.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]),
  )
  const [before, after] = [
    chunks.filter(([type]) => type === 'acTL'),
    chunks.filter(([type]) => type !== 'acTL'),
  ]
  const all: Chunk[] = [['IHDR', header], ...before, ['PLTE', colours], ...after, ['IEND', Buffer.alloc(0)]]
  return Buffer.concat([SIGNATURE, ...all.map(([type, body]) => chunk(type, body))])
}

/** The same picture in fewer bytes. */
export function smaller(png: Buffer): Buffer {
  const picture = readPng(png)
  const palette = new Palette([picture])
  const { width, height } = picture
  return pngOf(picture, palette, [['IDAT', compressed(picture, palette, { x: 0, y: 0, width, height })]])
}
