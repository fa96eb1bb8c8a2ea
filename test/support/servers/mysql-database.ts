import { randomUUID } from 'node:crypto'
import mysql from 'mysql2/promise'

const CONNECT_MS = 5_000

/** A new, empty database on this server. */
export async function freshMysqlDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await withMysql(url, (client) => client.query(`create database ${name}`))
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    url: own.href,
    drop: () => withMysql(url, async (client) => void (await client.query(`drop database ${name}`))),
  }
}

export async function withMysql<T>(url: string, act: (client: mysql.Connection) => Promise<T>): Promise<T> {
  const client = await mysql.createConnection({ uri: url, connectTimeout: CONNECT_MS })
  // A server that is killed while idle would end the test process.
  client.on('error', () => undefined)
  try {
    return await act(client)
  } finally {
    client.destroy()
  }
}
