/** Integrations as they are kept: their secrets sealed before they are stored, and their converters tried. */
import { z } from 'zod'
import type { Clock, Random } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { DraftOf } from '../entities/define.ts'
import { integrations, type Integration } from '../entities/integration.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { retried } from '../entities/retried.ts'
import type { Vault } from '../vault/vault.ts'
import { kindOf } from './catalogue.ts'
import { openedConfiguration, sealedAnew, sealedConfiguration } from './configuration.ts'
import type { Converter } from './converter.ts'
import { converterOf, converterSchema } from './converter-configuration.ts'
import type { ReadConfiguration } from './define-integration.ts'
import { IntegrationErrors } from './errors.ts'
import type { OperatorRules } from './operator-rules.ts'

export interface IntegrationsParts {
  readonly declared: Pick<EntityRegistry, 'of'>
  readonly entities: Pick<EntityStore, 'write'>
  readonly vault: Vault
  readonly scripts: ScriptHost
  readonly clock: Clock
  readonly random: Random
  readonly castStrings: boolean
  readonly rules: OperatorRules
}

export const converterTrial = z.object({
  converter: converterSchema,
  /** Text; Base64 where the converter takes bytes. */
  payload: z.string().max(1_000_000),
  metadata: z.record(z.string(), z.string()).default({}),
})
export type ConverterTrial = z.infer<typeof converterTrial>

export class Integrations {
  private readonly parts: IntegrationsParts

  constructor(parts: IntegrationsParts) {
    this.parts = parts
  }

  async saveByUser(principal: Principal, draft: DraftOf<typeof integrations.columns>): Promise<Integration> {
    const { service } = this
    const tenantId = service.tenantOf(principal)
    const type = draft.type ?? 'HTTP'
    const sent = draft.configuration ?? null
    const configuration = isJsonObject(sent) ? sent : {}
    // What is wrong is said before anything is stored: of the members as they were sent, and of the script with its position.
    kindOf(type).read(configuration).check(this.parts.rules)
    const converter = await this.compiled(draft.converter ?? null, tenantId)
    converter.close()
    const sealed = sealedConfiguration(type, configuration, this.parts.vault, tenantId)
    return service.saveByUser(principal, { ...draft, type, configuration: sealed })
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    return this.service.deleteByUser(principal, id)
  }

  /** Runs a converter once: `output` is what it made, `error` what it failed for, with line and column; one of them is empty. */
  async check(principal: Principal, trial: ConverterTrial): Promise<JsonObject> {
    const { converter, payload, metadata } = trial
    const bytes = Buffer.from(payload, converter.payloadFormat === 'BINARY' ? 'base64' : 'utf8')
    try {
      const compiled = await this.compiled(converter, this.service.tenantOf(principal))
      try {
        const [outcome = []] = await compiled.convert([{ payload: bytes, metadata }])
        if (isMillraceError(outcome)) throw outcome
        const { uploadJson } = await import('./converter.ts')
        return { output: outcome.map(uploadJson), error: '' }
      } finally {
        compiled.close()
      }
    } catch (error) {
      if (!isMillraceError(error) || error.kind === 'retryable') throw error
      return { output: [], error: error.message }
    }
  }

  /** The path of the webhook: who knows it may send. Throws `NO_WEBHOOK`. */
  webhookOf({ type, routingKey }: Integration): string {
    if (type !== 'HTTP') throw IntegrationErrors.NO_WEBHOOK({ type })
    return `/api/v1/integrations/http/${routingKey ?? ''}`
  }

  async findByKey(routingKey: string): Promise<Integration | undefined> {
    return this.service.findAnywhereBy({ routingKey })
  }

  find(id: string): Promise<Integration | undefined> {
    return this.service.findAnywhere(id)
  }

  /** Those that this or another process is to run. */
  async enabled(): Promise<readonly Integration[]> {
    return this.service.findWhere([{ column: 'enabled', is: 1 }])
  }

  /** With its secrets open. Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`, and what the operator allows no longer. */
  open(integration: Integration): ReadConfiguration {
    const { vault, rules } = this.parts
    const read = kindOf(integration.type).read(openedConfiguration(integration, vault, integration.tenantId))
    read.check(rules)
    return read
  }

  /** What is sealed under a former key, or was brought in open. */
  async sealAnew(): Promise<void> {
    for (const { id } of await this.service.findWhere([])) {
      await retried(integrations.label, async () => {
        const integration = await this.find(id)
        const sealed = integration && sealedAnew(integration, this.parts.vault, integration.tenantId)
        if (integration === undefined || sealed === undefined) return
        const changed = { ...integration, version: integration.version + 1, configuration: sealed }
        await this.parts.entities.write([this.service.update(changed)])
      })
    }
  }

  private async compiled(configuration: Parameters<typeof converterOf>[0], tenantId: string): Promise<Converter> {
    // Loaded when there is one: most platforms have no integration.
    const { Converter } = await import('./converter.ts')
    const { scripts, castStrings, clock, random } = this.parts
    return Converter.compile(
      converterOf(configuration),
      { tenantId, ownerId: 'converter check' },
      { scripts, castStrings, newId: () => random.uuid(), now: () => clock.now() },
    )
  }

  private get service() {
    return this.parts.declared.of(integrations)
  }
}
