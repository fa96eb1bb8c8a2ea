import { totalmem } from 'node:os'

const MIB = 1024 * 1024

/** A sixteenth of the memory, within the limit of the container, from 128 MiB to 1 GiB. */
function sharedBuffers(): string {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return `${Math.min(Math.max(Math.floor(memory / 16 / MIB), 128), 1024)}MB`
}

/**
 * The embedded server is tuned for few connections, large batches and a small idle footprint, with full durability.
 * Other settings keep the defaults of Postgres.
 */
const TUNED: Record<string, string> = {
  cluster_name: 'baton',
  max_connections: '50',
  // Memory is allocated only as pages are used, so this costs an idle server nothing.
  shared_buffers: sharedBuffers(),
  wal_buffers: '32MB',
  huge_pages: 'off',
  // Three processes fewer than the default, which helps only with slow disks and large scans.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  // Rare checkpoints: after each, the next write of every page is a full one. Bounds the disk space and the recovery time.
  max_wal_size: '2GB',
  min_wal_size: '512MB',
  checkpoint_timeout: '15min',
  wal_compression: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Queue-like tables fill with dead rows within seconds.
  autovacuum_naptime: '15s',
  // Short statements: compiling one costs more than it saves.
  jit: 'off',
  log_checkpoints: 'off',
}

/** `-c name=value` for each setting; `overrides` win over the tuning, but not over what the start itself relies on. */
export function settingArguments(overrides: Record<string, string>, port: number): string[] {
  const relied = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '',
    lc_messages: 'C',
  }
  return Object.entries({ ...TUNED, ...overrides, ...relied }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
}
