/** A tenant whose rule chain is one node that does harm, beside the tenant of the demo. */
import { DEMO_SYSADMIN, login, RestClient } from './clients.ts'
import type { RunningMillrace } from './start-millrace.ts'

const PREFIX = 'org.thingsboard.rule.engine.'

export interface HostileNode {
  readonly type: string
  readonly configuration: Readonly<Record<string, unknown>>
}

const LOG = { scriptLang: 'TBEL', tbelScript: 'return msg;', jsScript: 'return msg;' }

/** A tenant whose rule chain is this node; what comes of it goes to the system's log. Its tokens are `HOSTILE_0`, `HOSTILE_1`, … */
export async function makeHostileTenant(millrace: RunningMillrace, node: HostileNode, devices: number): Promise<void> {
  const system = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  const tenant = await system.expect<{ id: unknown }>('POST', '/api/tenant', { title: 'Hostile' })
  const email = 'hostile@millrace.local'
  const user = await system.expect<{ id: { id: string } }>('POST', '/api/user?sendActivationMail=false', {
    ...{ email, authority: 'TENANT_ADMIN', tenantId: tenant.id },
  })
  const link = await system.call('GET', `/api/user/${user.id.id}/activationLink`)
  const activateToken = new URL(link.text).searchParams.get('activateToken')
  const password = 'Hostile-1!'
  await system.expect('POST', '/api/noauth/activate', { activateToken, password })
  const rest = new RestClient(millrace, await login(millrace, { username: email, password }))
  const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'hostile' })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: chain.id,
    firstNodeIndex: 0,
    nodes: [
      { ...node, type: PREFIX + node.type, name: 'hostile', configurationVersion: 0 },
      { type: `${PREFIX}action.TbLogNode`, name: 'log', configurationVersion: 0, configuration: LOG },
    ],
    connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
  })
  await rest.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
  for (let device = 0; device < devices; device++) await rest.createDevice(`hostile ${device}`, `HOSTILE_${device}`)
}
