/** Entity records as the platform holds them; the REST layer renders them (`rest-api.md` 3.3, 5, 8, 12). Ids are UUID text. */
import type { JsonObject, JsonValue } from './json.ts'

export interface EntityRecord {
  readonly id: string
  /** Unix ms. */
  readonly createdTime: number
  /** Optimistic lock: 1 on creation, +1 a change. */
  readonly version: number
}

export const AUTHORITIES = ['SYS_ADMIN', 'TENANT_ADMIN', 'CUSTOMER_USER'] as const
export type Authority = (typeof AUTHORITIES)[number]

export interface User extends EntityRecord {
  /** Null for system administrators. */
  readonly tenantId: string | null
  readonly customerId: string | null
  readonly email: string
  readonly authority: Authority
  readonly firstName: string | null
  readonly lastName: string | null
  readonly phone: string | null
  readonly additionalInfo: JsonValue
}

export const CREDENTIALS_TYPES = ['ACCESS_TOKEN', 'X509_CERTIFICATE', 'MQTT_BASIC', 'LWM2M_CREDENTIALS'] as const
export type CredentialsType = (typeof CREDENTIALS_TYPES)[number]

export interface DeviceCredentials extends EntityRecord {
  readonly tenantId: string
  readonly deviceId: string
  readonly credentialsType: CredentialsType
  /** The access token for ACCESS_TOKEN; unique over all tenants. */
  readonly credentialsId: string
  readonly credentialsValue: string | null
}

export interface RuleChain extends EntityRecord {
  readonly tenantId: string
  readonly name: string
  readonly type: 'CORE' | 'EDGE'
  readonly firstRuleNodeId: string | null
  readonly root: boolean
  readonly debugMode: boolean
  readonly configuration: JsonValue
  readonly additionalInfo: JsonValue
}

export interface RuleNode {
  readonly id: string
  readonly createdTime: number
  readonly ruleChainId: string
  /** The node class's full name, as exported chains carry it. */
  readonly type: string
  readonly name: string
  readonly debugSettings: JsonValue
  readonly singletonMode: boolean
  readonly queueName: string | null
  readonly configurationVersion: number
  readonly configuration: JsonObject
  readonly additionalInfo: JsonValue
  /** Why this node does not run: set where a chain with an unknown node type was imported on request. */
  readonly disabledReason: string | null
}

export interface NodeConnection {
  readonly fromIndex: number
  readonly toIndex: number
  /** The relation's label; compared without regard to case. */
  readonly type: string
}

/** A chain's graph: what `GET /api/ruleChain/{id}/metadata` shows. */
export interface RuleChainGraph {
  readonly ruleChainId: string
  /** The chain's version: a save must name the present one. */
  readonly version: number
  readonly firstNodeIndex: number | null
  readonly nodes: readonly RuleNode[]
  readonly connections: readonly NodeConnection[]
  readonly notes?: JsonValue
}

export const SUBMIT_STRATEGIES = [
  'BURST',
  'BATCH',
  'SEQUENTIAL_BY_ORIGINATOR',
  'SEQUENTIAL_BY_TENANT',
  'SEQUENTIAL',
] as const
export type SubmitStrategyType = (typeof SUBMIT_STRATEGIES)[number]

export const PROCESSING_STRATEGIES = [
  'SKIP_ALL_FAILURES',
  'SKIP_ALL_FAILURES_AND_TIMED_OUT',
  'RETRY_ALL',
  'RETRY_FAILED',
  'RETRY_TIMED_OUT',
  'RETRY_FAILED_AND_TIMED_OUT',
] as const
export type ProcessingStrategyType = (typeof PROCESSING_STRATEGIES)[number]

export interface SubmitStrategy {
  readonly type: SubmitStrategyType
  /** Messages in process at once; heeded by BATCH. */
  readonly batchSize: number
}

export interface ProcessingStrategy {
  readonly type: ProcessingStrategyType
  /** Tries after the first; 0 is without end (`rule-engine.md` 5.4). */
  readonly retries: number
  /** 0 to 100: over this share of failures in a pack nothing is tried again; 0 switches the rule off. */
  readonly failurePercentage: number
  /** Seconds. */
  readonly pauseBetweenRetries: number
  /** Seconds; the pause doubles up to it. */
  readonly maxPauseBetweenRetries: number
}

/** How the messages of one queue are handed to the rule engine, and what becomes of failures (`rule-engine.md` section 5). */
export interface Queue extends EntityRecord {
  /** The tenant that made it; the system tenant's are there for all. */
  readonly tenantId: string
  readonly name: string
  readonly topic: string
  readonly pollInterval: number
  readonly partitions: number
  readonly consumerPerPartition: boolean
  /** Milliseconds. */
  readonly packProcessingTimeout: number
  readonly submitStrategy: SubmitStrategy
  readonly processingStrategy: ProcessingStrategy
  readonly additionalInfo: JsonValue
}

export interface PageQuery {
  readonly pageSize: number
  readonly page: number
  readonly textSearch?: string | undefined
  readonly sortProperty?: string | undefined
  readonly sortOrder?: 'ASC' | 'DESC' | undefined
}

export interface Page<Item> {
  readonly data: readonly Item[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}
