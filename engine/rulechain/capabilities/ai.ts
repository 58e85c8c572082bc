/** Asking models of artificial intelligence that the tenant set up. */
import type { JsonObject } from '../../../model/json.ts'

export type AiFormat =
  { readonly type: 'TEXT' } | { readonly type: 'JSON' } | { readonly type: 'JSON_SCHEMA'; readonly schema: JsonObject }

export interface AiQuestion {
  readonly system?: string
  readonly user: string
  readonly format: AiFormat
}

export interface NodeAiModel {
  /** The model's text. Rejects with the service's reason, or with the outbound policy's. No key is in the text. */
  ask(question: AiQuestion): Promise<string>
  close(): Promise<void>
}

export interface NodeAiSettings {
  readonly timeoutMs: number
  /** A message waits for the answer, so that no call is longer than any other outside. */
  readonly isAwaited: boolean
  /** Ids of files that go with each question, as they are then. */
  readonly fileIds: readonly string[]
}

export interface NodeAi {
  /** Rejects where the tenant has no such model, or no such file. */
  open(modelId: string, settings: NodeAiSettings): Promise<NodeAiModel>
}
