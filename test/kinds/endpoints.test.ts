import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Endpoint } from '../../src/pure/endpoint.ts'
import { routesOf } from '../support/http-routes.ts'
import { useServer } from '../support/http-workspace.ts'

/** Endpoints are values in the files called api of kinds and views. A route without one would be unknown to clients. */

const { served } = useServer()
const source = join(import.meta.dirname, '../../src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /^(kinds|views)\/[^/]+\/(api(\/[^/]+)?|streams)\.ts$/.test(path),
)

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value

async function endpoints(): Promise<string[]> {
  const modules = await Promise.all(files.map((path) => import(/* @vite-ignore */ `../../src/${path}`)))
  return modules
    .flatMap((module) => Object.values(module).filter(isEndpoint))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
}

test('every route of the server is an endpoint, and every endpoint a route', async () => {
  const routes = (await routesOf(served())).map(({ method, path }) => `${method} ${path}`)
  expect(routes.length).toBeGreaterThan(100)
  expect((await endpoints()).sort()).toEqual(routes.sort())
})

test('every file of endpoints is in the type that clients use', () => {
  const all = readFileSync(join(source, 'kinds/all.ts'), 'utf8')
  const named = (path: string) => path.replace(/^kinds\//, './').replace(/^views\//, '../views/')
  expect(files.filter((path) => !all.includes(`typeof import('${named(path)}')`))).toEqual([])
})
