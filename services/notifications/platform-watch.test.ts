/** Chains and nodes that come and go, and rates that are reached, as rules tell of them, on both databases. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { notificationRules, notificationTargets, notificationTemplates } from '../entities/notification.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import type { ComponentStep } from '../events/chain-events.ts'
import { TestClock, type TestPlatform } from '../testkit.ts'
import { PlatformWatch } from './platform-watch.ts'
import type { TriggerType } from './rule-configs.ts'

const CHAIN = '11111111-1111-4111-8111-111111111111'
const NODE = '22222222-2222-4222-8222-222222222222'

await onBothDatabases('news of the platform: ', testAll)

function testAll(open: () => Promise<TestPlatform>): void {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  async function newRule(type: TriggerType, text: string, triggerConfig: JsonObject, by: Principal) {
    const { declared } = platform.services
    const usersFilter = { type: 'USER_LIST', usersIds: [by.userId] }
    const configuration = { type: 'PLATFORM_USERS', usersFilter }
    const target = await declared.of(notificationTargets).saveByUser(by, { name: text, configuration })
    const deliveryMethodsTemplates = { WEB: { enabled: true, method: 'WEB', subject: type, body: text } }
    const template = await declared
      .of(notificationTemplates)
      .saveByUser(by, { name: text, notificationType: type, configuration: { deliveryMethodsTemplates } })
    const draft = { name: text, templateId: template.id, triggerType: type, triggerConfig }
    return declared.of(notificationRules).saveByUser(by, { ...draft, recipientsConfig: { targets: [target.id] } })
  }

  async function told(user: Principal): Promise<readonly unknown[]> {
    const { platformWatch, notifications } = platform.services
    await platformWatch.settled()
    await notifications.settled()
    const query = { page: 0, pageSize: 100, sortProperty: 'createdTime', sortOrder: 'ASC' } as const
    const { data } = await notifications.inbox.page(user, true, query)
    await notifications.inbox.markAllRead(user)
    return data.map(({ text }) => text).toSorted()
  }

  test('chains and nodes are told of as the rule asks: of which chains, which steps, and whether only what fails', async () => {
    const { tenant, tenantId, services } = platform
    const type = 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
    const all = '${componentType} ${componentName} of ${ruleChainName}: ${action}, ${eventType} ${error}'
    await newRule(type, `all ${all}`, { trackRuleNodeEvents: true }, tenant)
    await newRule(type, 'chains ${eventType}', { ruleChainEvents: ['STARTED'] }, tenant)
    const onlyFailures = { onlyRuleNodeLifecycleFailures: true, onlyRuleChainLifecycleFailures: true }
    await newRule(type, 'failed ${componentName}', { trackRuleNodeEvents: true, ...onlyFailures }, tenant)
    await newRule(type, 'other', { ruleChains: [NODE], trackRuleNodeEvents: true }, tenant)
    const chain = { tenantId, ruleChainId: CHAIN, ruleChainName: 'Root', error: undefined }
    const of = (step: Pick<ComponentStep, 'component' | 'componentName' | 'event'> & { error?: Error }): void =>
      services.platformWatch.componentChanged({ ...chain, ...step })
    of({ component: entityId('RULE_CHAIN', CHAIN), componentName: 'Root', event: 'STARTED' })
    of({
      component: entityId('RULE_NODE', NODE),
      componentName: 'log',
      event: 'UPDATED',
      error: new Error('no script'),
    })
    of({ component: entityId('RULE_CHAIN', CHAIN), componentName: 'Root', event: 'STOPPED' })
    assert.deepEqual(await told(tenant), [
      'all Rule chain Root of Root: start, started ',
      'all Rule chain Root of Root: stop, stopped ',
      'all Rule node log of Root: update, updated no script',
      'chains started',
      'failed log',
    ])
  })

  test('the system hears of a rate that a tenant or a customer reaches, once in four hours', async () => {
    const { systemAdministrator, tenantId, customer, services, clock } = platform
    const text = '${tenantName}: ${api}, ${limitLevelEntityType} ${limitLevelEntityName}'
    await newRule(
      'RATE_LIMITS',
      text,
      { apis: ['REST_REQUESTS_PER_TENANT', 'REST_REQUESTS_PER_CUSTOMER'] },
      systemAdministrator,
    )
    const profiles = services.declared.of(tenantProfiles)
    const setRate = async (
      tenantServerRestLimitsConfiguration: string,
      customerServerRestLimitsConfiguration: string,
    ) => {
      const [profile] = await profiles.findWhere([])
      assert.ok(profile !== undefined)
      const rates = { tenantServerRestLimitsConfiguration, customerServerRestLimitsConfiguration }
      const profileData = { ...profile.profileData, limits: { ...profile.profileData.limits, ...rates } }
      return profiles.saveByUser(systemAdministrator, { ...profile, profileData })
    }
    const flood = async (customerId: string | null): Promise<void> => {
      for (let call = 0; call < 20; call++)
        await services.restRates.check({ tenantId, customerId }).catch(() => undefined)
    }
    await setRate('1:3600', '')
    await flood(null)
    const [first, ...others] = await told(systemAdministrator)
    assert.match(String(first), /^.+: REST API requests, Tenant .+$/)
    assert.deepEqual(others, [])
    clock.time += 3_600_000
    await flood(null)
    assert.deepEqual(await told(systemAdministrator), [])
    clock.time += 3 * 3_600_000
    await flood(null)
    assert.deepEqual(await told(systemAdministrator), [first])
    await setRate('', '1:3600')
    await flood(customer.customerId)
    assert.match(String(await told(systemAdministrator)), /^.+: REST API requests per customer, Customer .+$/)
    services.platformWatch.rateReached({ tenantId, api: 'WS_UPDATES_PER_SESSION' })
    assert.deepEqual(await told(systemAdministrator), [])
  })
}

test('a tenant has its share of what waits, the others go on, and all that is left out is reported once', async () => {
  const heard = new Map<string, number>()
  const reports: string[] = []
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const watch = new PlatformWatch({
    entities: { write: () => Promise.reject(new Error('nothing is to be written')) },
    clock: new TestClock(),
    events: {
      async componentChanged({ tenantId }) {
        await held
        heard.set(tenantId, (heard.get(tenantId) ?? 0) + 1)
        return []
      },
      rateReached: async () => [],
    },
    committed: () => undefined,
    report: (text) => void reports.push(text),
  })
  const chain = { ruleChainId: CHAIN, ruleChainName: '', component: entityId('RULE_CHAIN', CHAIN), componentName: '' }
  const step = (tenantId: string): void =>
    watch.componentChanged({ tenantId, ...chain, event: 'UPDATED', error: undefined })
  for (let times = 0; times < 5_000; times++) step('loud')
  step('quiet')
  release()
  await watch.close()
  assert.deepEqual([heard.get('loud'), heard.get('quiet'), reports.length], [1_000, 1, 1])
  step('quiet')
  await watch.settled()
  assert.equal(heard.get('quiet'), 1, 'what comes after the end is not told')
})
