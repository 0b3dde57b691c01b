import Testing
import TocsinCore
import TocsinStore

@Suite("Imports into a database that nodes share")
struct ImportBesideNodesTests {
    @Test("a node that was heard of lately refuses them; one that has gone does not", arguments: TestDatabase.postgres)
    func refused(database: TestDatabase) async throws {
        let database = try database.make()
        let store = try await SQLStore.open(database, at: moment(0))
        var node = NodeEntry(instance: "i1", name: "north", keyMark: "k", startedAt: moment(1000))
        node.seenAt = moment(1000)
        let entry = node
        try await store.write { writer throws(StoreError) in try writer.save(entry) }
        await store.close()
        #expect {
            try DataTarget(database, at: moment(20_000)).close()
        } throws: {
            guard case .mismatch(let reason)? = $0 as? StoreError else { return false }
            return reason.contains("north")
        }
        try DataTarget(database, at: moment(22_000)).close()
    }
}
