import { inject } from 'vitest'
import { emptyDatabase } from './database.ts'
import { freshMysqlDatabase } from './servers/mysql-database.ts'
import { freshValkeyPrefix } from './servers/valkey.ts'

interface Place {
  url: string
  drop(): Promise<void>
}

/** A place for a queue of its own, on each store that has a server. */
export const queuePlaces: Record<string, () => Promise<Place>> = {
  memory: async () => ({ url: 'memory:', drop: async () => undefined }),
  postgres: emptyDatabase,
}

const { valkeyUrl, mariadbUrl } = { valkeyUrl: inject('valkeyUrl'), mariadbUrl: inject('mariadbUrl') }
// Where there is no server of a kind, its store is left out; global-setup has printed it.
if (valkeyUrl !== null)
  queuePlaces.valkey = async () => {
    const url = new URL(valkeyUrl)
    url.searchParams.set('prefix', freshValkeyPrefix())
    return { url: url.href, drop: async () => undefined }
  }
if (mariadbUrl !== null) queuePlaces.mysql = () => freshMysqlDatabase(mariadbUrl)
