import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'

/**
 * Addresses to which Baton sends nothing, whoever names them. There is one check for all that Baton sends to an address that somebody
 * has chosen, and two rules: what is forbidden to agents, and what is forbidden to webhooks.
 */
export interface AddressRule {
  /** True also for text that is not an address: it is never connected to. */
  forbids(address: string): boolean
  /** Whether a host is allowed whatever it resolves to. */
  trusts(host: string): boolean
  /** What is wrong with the addresses of a host. */
  readonly because: string
}

type Nets = readonly (readonly [net: string, prefix: number])[]

/** Link-local addresses and the metadata services of clouds, which give the keys of the machine to every local client. */
const METADATA_IPV4: Nets = [
  // Link-local: AWS, Google, Azure, Oracle, DigitalOcean, Hetzner and most others have their metadata service here.
  ['169.254.0.0', 16],
  // The metadata services of Alibaba and Oracle, and Azure's wire server.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
]
const METADATA_IPV6: Nets = [
  ['fe80::', 10],
  // The metadata services of AWS, Google and Scaleway.
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  ['fd00:42::42', 128],
]

/** All that is not an address of the public internet (the registries of special addresses, RFC 6890 and later). */
const INNER_IPV4: Nets = [
  ...METADATA_IPV4,
  // This network and this host: on Linux a connection to 0.0.0.0 arrives at the loopback interface.
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  // Carrier-grade NAT, which clouds and overlay networks use inside.
  ['100.64.0.0', 10],
  ['192.0.0.0', 24],
  // For documentation, 6to4 relays and benchmarks.
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, reserved, and broadcast.
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
const INNER_IPV6: Nets = [
  ...METADATA_IPV6,
  ['::', 128],
  ['::1', 128],
  // Unique local, and site-local before it.
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
  // Discarded, Teredo, documentation, and NAT64 of a local network.
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['64:ff9b:1::', 48],
]

function blocking(ipv4: Nets, ipv6: Nets): BlockList {
  const list = new BlockList()
  for (const [net, prefix] of ipv4) {
    // The mapped form (::ffff:a.b.c.d) is covered by BlockList itself.
    list.addSubnet(net, prefix, 'ipv4')
    const [a, b, c, d] = net.split('.').map(Number) as [number, number, number, number]
    const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    // IPv4-compatible, NAT64 and 6to4: a gateway may turn them into the same address.
    list.addSubnet(`::${hex}`, 96 + prefix, 'ipv6')
    list.addSubnet(`64:ff9b::${hex}`, 96 + prefix, 'ipv6')
    list.addSubnet(`2002:${hex}::`, 16 + prefix, 'ipv6')
  }
  for (const [net, prefix] of ipv6) list.addSubnet(net, prefix, 'ipv6')
  return list
}

const isListed = (list: BlockList, address: string) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
const withoutZone = (address: string) => address.replace(/%.*$/, '')

const metadata = blocking(METADATA_IPV4, METADATA_IPV6)
const inner = blocking(INNER_IPV4, INNER_IPV6)

/** Loopback and private addresses are allowed: most agents run there. */
export const FOR_AGENTS: AddressRule = {
  forbids: (address) => {
    const plain = withoutZone(address)
    return isIP(plain) === 0 || isListed(metadata, plain)
  },
  trusts: () => false,
  because: 'is a link-local address or a metadata service',
}

/** An address, a net such as 10.1.0.0/16, or the name of a host. */
const NET = /^([^/]+)\/(\d{1,3})$/

/** Whether an operator may list it. */
export function isAllowable(one: string): boolean {
  const [, net, prefix] = NET.exec(one) ?? []
  if (net !== undefined) return isIP(net) !== 0 && Number(prefix) <= (isIPv4(net) ? 32 : 128)
  return isIP(one) !== 0 || /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?$/.test(one)
}

/** Only the public internet, and what the operator has listed. */
export function forWebhooks(allowed: readonly string[]): AddressRule {
  const nets = new BlockList()
  const hosts = new Set<string>()
  for (const one of allowed) {
    const [, net = one, prefix] = NET.exec(one) ?? []
    if (isIP(net) === 0) hosts.add(one.toLowerCase())
    else nets.addSubnet(net, Number(prefix ?? (isIPv4(net) ? 32 : 128)), isIPv4(net) ? 'ipv4' : 'ipv6')
  }
  return {
    forbids: (address) => {
      const plain = withoutZone(address)
      return isIP(plain) === 0 || (isListed(inner, plain) && !isListed(nets, plain))
    },
    trusts: (host) => hosts.has(host.toLowerCase()),
    because: 'is an inner address: private, loopback, link-local or reserved',
  }
}

/** Whether a URL contains a forbidden address. Names are checked when they are resolved for the connection. */
export function namesForbiddenAddress({ hostname }: URL, rule: AddressRule): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && rule.forbids(host)
}

export class AddressForbidden extends Error {
  override name = 'AddressForbidden'
}

export const refusalOf = (host: string, { because }: AddressRule) =>
  new AddressForbidden(`${host} ${because}; requests to it are not allowed.`)

/**
 * Resolves names for a connection and drops forbidden addresses. The connection uses exactly this answer, so a name that
 * resolves differently a moment later gains nothing. It is not called for plain addresses: see namesForbiddenAddress.
 */
export const allowedOnly =
  (rule: AddressRule, lookup: LookupFunction = systemLookup as LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const all = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }]
      const allowed = rule.trusts(hostname) ? all : all.filter(({ address }) => !rule.forbids(address))
      const [first] = allowed
      if (!first) return callback(refusalOf(hostname, rule), [])
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })

/** An address as it may be shown: without a login, and of its query only the names. */
export function withoutValues({ origin, pathname, searchParams }: URL): string {
  const names = [...searchParams.keys()].map((name) => `${name}=…`)
  return `${origin}${pathname}${names.length > 0 ? `?${names.join('&')}` : ''}`
}
