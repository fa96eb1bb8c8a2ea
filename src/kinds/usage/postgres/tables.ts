import type { Stored } from '../../../postgres/statements/stored-kind.ts'

export const storedUsage: Stored = {
  tables: {
    usage_sources: 'select, insert, update',
    usage: 'select, insert, update',
    usage_quarters: 'select, insert, update',
  },
}
