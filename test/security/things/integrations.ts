import type { MakeThings } from './make-things.ts'

export const makeIntegrations: MakeThings = async ({ services, tenant }) => {
  const integration = await services.integrations.saveByUser(tenant, {
    name: 'secret integration',
    type: 'HTTP',
    converter: { script: 'return {deviceName: "secret device"};' },
    configuration: { secret: 'secret of the webhook' },
  })
  return { integrationId: integration.id }
}
