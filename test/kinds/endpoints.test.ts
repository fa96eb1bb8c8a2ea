import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Endpoint } from '../../src/pure/endpoint.ts'
import { routesOf } from '../support/http-routes.ts'
import { useServer } from '../support/http-workspace.ts'

/** Endpoints are values in src/core/api. A route without one would be unknown to clients. */

const { served } = useServer()
const folder = join(import.meta.dirname, '../../src/core/api')
const files = readdirSync(folder).filter((name) => !['all.ts', 'endpoint.ts', 'paging.ts'].includes(name))

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value

async function endpoints(): Promise<string[]> {
  const modules = await Promise.all(files.map((name) => import(/* @vite-ignore */ `../src/core/api/${name}`)))
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
  const all = readFileSync(join(folder, 'all.ts'), 'utf8')
  expect(files.filter((name) => !all.includes(`typeof import('./${name}')`))).toEqual([])
})
