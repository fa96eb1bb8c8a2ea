import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { cookiesIn } from './cookies.ts'
import { insteadOfLocalhost } from './page-host.ts'
import { sendProblem } from './problems.ts'

/** The web app: its page at every address that belongs to nothing else, and its assets, which never change. */

export interface BuiltWebApp {
  /** Vite's output: index.html and assets/. */
  folder: string
}

/** What index.html says instead of them. */
const NONCE = '__NONCE__'
const THEME = '__THEME__'
const THEMES = ['light', 'dark', 'system']

const YEAR_MS = 365 * 86_400_000

const policyWith = (styles: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

/** A worker has the policy of its own file, and may load what its page may. */
const POLICY_OF_ASSETS = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"

/** Pages of "localhost" are sent to the address `loopback`, unless that is null. */
export async function serveWebApp(
  app: FastifyInstance,
  { folder }: BuiltWebApp,
  loopback: string | null = null,
): Promise<void> {
  const assets = join(folder, 'assets')
  if (existsSync(assets)) await app.register((scope) => serveAssets(scope, assets))
  app.setNotFoundHandler((request, reply) => {
    if (!wantsPage(request)) return noSuchRoute(request, reply)
    const elsewhere = insteadOfLocalhost(request, loopback)
    return elsewhere === null ? sendPage(request, reply, folder) : sendElsewhere(request, reply, elsewhere)
  })
}

async function serveAssets(app: FastifyInstance, folder: string): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needs: 'nothing' }
  })
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode < 400) reply.header('content-security-policy', POLICY_OF_ASSETS)
  })
  await app.register(fastifyStatic, {
    root: folder,
    prefix: '/assets/',
    decorateReply: false,
    preCompressed: true,
    // Their names change with their content.
    immutable: true,
    maxAge: YEAR_MS,
    index: false,
    dotfiles: 'ignore',
    setHeaders: (response) => void response.setHeader('vary', 'accept-encoding'),
  })
}

const NOT_PAGES = /^\/(api|assets|health|metrics|openapi\.json)(\/|$)/

/** A person who follows a link or enters an address, and no program. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const [path] = url.split('?')
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && (headers.accept?.includes('text/html') ?? false) && !NOT_PAGES.test(path!)
}

const noSuchRoute = (request: FastifyRequest, reply: FastifyReply) =>
  sendProblem(reply, 'NOT_FOUND', `There is no route ${request.method} ${request.url.split('?')[0]}.`)

/** Browsers keep the fragment, with the token of a sign-in link. */
function sendElsewhere({ url }: FastifyRequest, reply: FastifyReply, origin: string): FastifyReply {
  // A request may also name a whole URL, which must not become part of this one.
  return reply.redirect(origin + (url.startsWith('/') ? url : '/'), 307)
}

/** The nonce is new in every answer, so the page is never stored. */
async function sendPage(request: FastifyRequest, reply: FastifyReply, folder: string): Promise<FastifyReply> {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch(() => NOT_BUILT)
  const nonce = randomBytes(16).toString('base64')
  const theme = cookiesIn(request).get('baton-theme') ?? ''
  return reply
    .code(200)
    .header('content-security-policy', policyWith(`'nonce-${nonce}'`))
    .type('text/html; charset=utf-8')
    .send(page.replaceAll(NONCE, nonce).replaceAll(THEME, THEMES.includes(theme) ? theme : 'system'))
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Baton</title>
  </head>
  <body>
    <h1>Baton is running</h1>
    <p>Its web app is not built. Run <code>npm run build</code>, and start Baton again.</p>
    <p>The API is at <code>/api/v1</code>; <a href="/openapi.json">/openapi.json</a> describes it.</p>
  </body>
</html>
`
