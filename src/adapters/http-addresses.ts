import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'

/**
 * Addresses to which Baton never sends a request for an agent: link-local ones and the metadata services of clouds, which
 * give the keys of the machine to every local client. Loopback and private addresses are allowed: most agents run there.
 */

const IPV4: readonly (readonly [net: string, prefix: number])[] = [
  // Link-local: AWS, Google, Azure, Oracle, DigitalOcean, Hetzner and most others have their metadata service here.
  ['169.254.0.0', 16],
  // The metadata services of Alibaba and Oracle, and Azure's wire server.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
]
const IPV6: readonly (readonly [net: string, prefix: number])[] = [
  ['fe80::', 10],
  // The metadata services of AWS, Google and Scaleway.
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  ['fd00:42::42', 128],
]

const forbidden = new BlockList()
for (const [net, prefix] of IPV4) {
  // The mapped form (::ffff:a.b.c.d) is covered by BlockList itself.
  forbidden.addSubnet(net, prefix, 'ipv4')
  const [a, b, c, d] = net.split('.').map(Number) as [number, number, number, number]
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  // IPv4-compatible, NAT64 and 6to4: a gateway may turn them into the same address.
  forbidden.addSubnet(`::${hex}`, 96 + prefix, 'ipv6')
  forbidden.addSubnet(`64:ff9b::${hex}`, 96 + prefix, 'ipv6')
  forbidden.addSubnet(`2002:${hex}::`, 16 + prefix, 'ipv6')
}
for (const [net, prefix] of IPV6) forbidden.addSubnet(net, prefix, 'ipv6')

/** True also for text that is not an address: it is never connected to. */
function isForbidden(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 0) return true
  return forbidden.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6')
}

/** Whether a URL contains such an address. Names are checked when they are resolved for the connection. */
export function namesForbiddenAddress({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && isForbidden(host)
}

export class AddressForbidden extends Error {
  override name = 'AddressForbidden'
}

export const refusalOf = (host: string) =>
  new AddressForbidden(
    `${host} is a link-local address or a metadata service; requests to it are not allowed.`,
  )

/**
 * Resolves names for a connection and drops forbidden addresses. The connection uses exactly this answer, so a name that
 * resolves differently a moment later gains nothing. It is not called for plain addresses: see namesForbiddenAddress.
 */
export const allowedOnly =
  (lookup: LookupFunction = systemLookup as LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const all = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }]
      const allowed = all.filter(({ address }) => !isForbidden(address))
      const [first] = allowed
      if (!first) return callback(refusalOf(hostname), [])
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })

/** An address as it may be shown: without a login, and of its query only the names. */
export function withoutValues({ origin, pathname, searchParams }: URL): string {
  const names = [...searchParams.keys()].map((name) => `${name}=…`)
  return `${origin}${pathname}${names.length > 0 ? `?${names.join('&')}` : ''}`
}
