import { settingsOf } from '../define.ts'

const outbound = settingsOf('Calls outside')

export const OUTBOUND_SETTINGS = {
  outboundAllowedAddresses: outbound.networks({
    name: 'OUTBOUND_ALLOWED_ADDRESSES',
    description:
      'Internal addresses and networks that external rule nodes may call: loopback, private and link-local ones are refused otherwise. `0.0.0.0/0,::/0` allows all.',
  }),
  outboundDeniedAddresses: outbound.hosts({
    name: 'OUTBOUND_DENIED_ADDRESSES',
    description:
      'Addresses, networks and names of hosts (`*.example.org`: all below it) that external rule nodes may not call, whatever else allows them.',
  }),
  outboundTimeoutMs: outbound.integer({
    name: 'OUTBOUND_TIMEOUT_MS',
    default: 15_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description:
      'Longest call of a rule node, waiting included. At most seven eighths of RULE_NODE_TIMEOUT_MS, so that the node hears of it.',
  }),
  outboundCalls: outbound.integer({
    name: 'OUTBOUND_CALLS',
    default: 2000,
    min: 1,
    max: 1_000_000,
    description: 'Calls under way at a time in the process.',
  }),
  outboundTenantCalls: outbound.integer({
    name: 'OUTBOUND_TENANT_CALLS',
    default: 200,
    min: 1,
    max: 1_000_000,
    description: 'Of these, those of one tenant; further ones wait, up to 10,000.',
  }),
  outboundNodeCalls: outbound.integer({
    name: 'OUTBOUND_NODE_CALLS',
    default: 100,
    min: 1,
    max: 1_000_000,
    description: 'Of these, those of one rule node that does not say it itself.',
  }),
  outboundMegabytes: outbound.integer({
    name: 'OUTBOUND_MAX_MEMORY_MB',
    default: 128,
    min: 1,
    max: 65_536,
    unit: 'MiB',
    description: 'Data of the calls under way and of their answers; one tenant has a quarter of it.',
  }),
  externalForceAck: outbound.flag({
    name: 'ACTORS_RULE_EXTERNAL_NODE_FORCE_ACK',
    default: false,
    description:
      'A message settles when an external node begins with it; the outcome is a message of its own. Slow services hold up no queue, but a call under way is lost with the process.',
  }),
} as const
