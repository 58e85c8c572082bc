import type { MakeThings } from './make-things.ts'

export const makeAiModels: MakeThings = async ({ services, tenant }) => {
  const model = await services.aiModels.saveByUser(tenant, {
    name: 'secret model',
    configuration: { provider: 'ANTHROPIC', providerConfig: { apiKey: 'secret key' }, modelId: 'secret model id' },
  })
  return { modelUuid: model.id, aiModelId: model.id }
}
