import { describe, expect, onTestFinished, test } from 'vitest'
import { animated } from '../../../scripts/screenshots/animation.ts'
import { smaller } from '../../../scripts/screenshots/png.ts'
import { useChromium } from '../../../test/support/browser/use-browser.ts'

/** The pictures of the documents, which we write ourselves, as a browser reads them. */

const DECODED = `async (base64) => {
  const data = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))
  const decoder = new ImageDecoder({ type: 'image/png', data })
  await Promise.all([decoder.completed, decoder.tracks.ready])
  const frames = []
  for (let frameIndex = 0; frameIndex < decoder.tracks.selectedTrack.frameCount; frameIndex++) {
    const { image } = await decoder.decode({ frameIndex })
    const context = new OffscreenCanvas(image.displayWidth, image.displayHeight).getContext('2d')
    context.drawImage(image, 0, 0)
    const at = (x, y) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)].join(' ')
    frames.push({ ms: image.duration / 1000, left: at(30, 30), right: at(170, 30), below: at(100, 90) })
  }
  return frames
}`

const box = (left: string, right: string) =>
  `<body style="margin:0;background:#fff"><div style="position:absolute;left:20px;top:20px;width:40px;height:40px;background:${left}"></div>
  <div style="position:absolute;left:150px;top:20px;width:40px;height:40px;background:${right}"></div><p style="margin-top:64px">text</p>`

describe('pictures', () => {
  const { browser } = useChromium()

  async function studio() {
    const context = await browser().newContext({ viewport: { width: 200, height: 100 } })
    onTestFinished(() => context.close())
    const [stage, reader] = [await context.newPage(), await context.newPage()]
    // The decoder exists only on pages from this machine.
    await reader.route('**', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
    await reader.goto('http://127.0.0.1/')
    return {
      take: async (left: string, right: string) => {
        await stage.setContent(box(left, right))
        return stage.screenshot()
      },
      read: (png: Buffer) => reader.evaluate(`(${DECODED})(${JSON.stringify(png.toString('base64'))})`),
    }
  }

  test('have the same colours in fewer bytes', async () => {
    const { take, read } = await studio()
    const png = await take('#1044d6', '#900d19')
    const less = smaller(png)
    expect(less.length).toBeLessThan(png.length)
    expect(await read(less)).toEqual([
      expect.objectContaining({ left: '16 68 214', right: '144 13 25', below: '255 255 255' }),
    ])
  })

  test('move, and are still as long as nothing changes', async () => {
    const { take, read } = await studio()
    const frames = [
      await take('#ff0000', '#00ff00'),
      await take('#ff0000', '#00ff00'),
      await take('#ff0000', '#0000ff'),
      await take('#ffff00', '#0000ff'),
    ]
    expect(await read(animated(frames, 250))).toEqual([
      { ms: 500, left: '255 0 0', right: '0 255 0', below: '255 255 255' },
      { ms: 250, left: '255 0 0', right: '0 0 255', below: '255 255 255' },
      { ms: 250, left: '255 255 0', right: '0 0 255', below: '255 255 255' },
    ])
  })
})
