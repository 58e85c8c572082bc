import { StatesInMemory } from './memory-store.ts'
import { testNodeStateStore } from './contract.ts'
import { MemoryStateStore } from './testkit.ts'

const tenantId = '99999999-0000-4000-8000-000000000010'

for (const Store of [StatesInMemory, MemoryStateStore]) {
  testNodeStateStore(Store.name, async () => {
    const store = new Store()
    return { tenantId, storeOf: () => store, close: async () => undefined }
  })
}
