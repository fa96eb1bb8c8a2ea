import type { Words } from './fixture.ts'

/** Text that tries to be more than text. Whatever of it runs sets `window.wasOwned` or opens a dialog. */

const OWN = 'window.wasOwned=1'

const MARKUP = [
  `<script>${OWN}</script>`,
  `<img src=x onerror="${OWN}">`,
  `<svg onload="${OWN}"></svg>`,
  `"><b onmouseover="${OWN}">`,
  `</textarea></title></style>`,
].join(' ')
/** Reverses the direction of the following text, and never ends that. */
const BIDI = '\u202egnp.exe \u2066left\u2067right'
const SCRIPTS = 'שלום مرحبا 👩‍👩‍👧‍👦🏳️‍🌈 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳'
const LINKS = `[link](javascript:${OWN}) <javascript:${OWN}> ![image](https://example.org/pixel.png)`
const WORD = 'W'.repeat(300)

/** Titles, goals and names: no control characters, 500 characters at most. */
const title = `${MARKUP.slice(0, 120)} ${BIDI} ${SCRIPTS} ${WORD}`.slice(0, 500).toWellFormed()

const ESC = '\u001b'
/** Moves of the cursor, erasures, titles of windows, links of terminals, colours without an end, progress bars. */
const TERMINAL = [
  `${ESC}[2J${ESC}[H${ESC}[999999999C${ESC}]0;owned\u0007${ESC}[31;1;4;5;7;38;2;255;0;0m red without end`,
  `${ESC}]8;;javascript:${OWN}\u0007a link${ESC}]8;;\u0007 ${ESC}]8;;https://example.org\u0007another${ESC}]8;;\u0007`,
  `10 %\r50 %\r100 %\b\b\b\u0007\u009b1mC1`,
  `${ESC}[`.repeat(2_000),
].join('\n')

export const HOSTILE: Words = {
  title,
  text: [MARKUP, BIDI, SCRIPTS, LINKS, 'X'.repeat(5_000)].join('\n\n'),
  output: [MARKUP, BIDI, SCRIPTS, TERMINAL, 'Y'.repeat(60_000)].join('\n'),
}
