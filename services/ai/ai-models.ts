/** Models of artificial intelligence, with their secrets sealed before they are stored. */
import type { Page, PageQuery } from '../../model/entities.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { aiModels, type AiModel } from '../entities/ai-model.ts'
import type { DraftOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { retried } from '../entities/retried.ts'
import { itemNotFound } from '../errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Vault } from '../vault/vault.ts'
import { aiConfigurationOf, aiJsonOf, openedAi, sealedAi, sealedAnewAi, type AiConfiguration } from './configuration.ts'

export interface AiModelsParts {
  readonly declared: Pick<EntityRegistry, 'of'>
  readonly entities: Pick<EntityStore, 'write'>
  readonly vault: Vault
}

/** A model as a call needs it. */
export interface OpenedModel {
  readonly version: number
  readonly configuration: AiConfiguration
}

export class AiModels {
  private readonly parts: AiModelsParts

  constructor(parts: AiModelsParts) {
    this.parts = parts
  }

  async saveByUser(principal: Principal, draft: DraftOf<typeof aiModels.columns>): Promise<AiModel> {
    const { configuration } = draft
    const { service } = this
    if (!isJsonObject(configuration)) return service.saveByUser(principal, draft)
    // What is wrong with it is said of what was sent, and texts alone are sealed.
    const sealed = sealedAi(aiJsonOf(configuration), this.parts.vault, service.tenantOf(principal))
    return service.saveByUser(principal, { ...draft, configuration: sealed })
  }

  /** A page of the tenant's, searched by name, provider and the provider's name of the model. */
  async page(principal: Principal, query: PageQuery): Promise<Page<AiModel>> {
    const where = [{ column: 'tenant_id', is: this.service.tenantOf(principal) }]
    return this.service.pageWhere({ where, search: ['name', 'provider', 'model_id'], query })
  }

  /** Throws where the tenant has no such model, `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
  async open(tenantId: string, id: string): Promise<OpenedModel> {
    const model = await this.service.find(tenantId, id)
    if (model === undefined || !isJsonObject(model.configuration)) throw itemNotFound(entityOf(id))
    const opened = openedAi(model.configuration, this.parts.vault, tenantId)
    return { version: model.version, configuration: aiConfigurationOf(opened) }
  }

  /** What is sealed under a former key, or was brought in open. */
  async sealAnew(): Promise<void> {
    const { entities, vault } = this.parts
    for (const { id } of await this.service.findWhere([])) {
      await retried(aiModels.label, async () => {
        const model = await this.service.findAnywhere(id)
        if (model === undefined || !isJsonObject(model.configuration)) return
        const configuration = sealedAnewAi(model.configuration, vault, model.tenantId)
        if (configuration === undefined) return
        await entities.write([this.service.update({ ...model, version: model.version + 1, configuration })])
      })
    }
  }

  private get service() {
    return this.parts.declared.of(aiModels)
  }
}

function entityOf(id: string): EntityId {
  return { entityType: 'AI_MODEL', id }
}
