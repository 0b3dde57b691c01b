import Testing
import TocsinCore

@Suite("Ids of deliveries")
struct DeliveryIDTests {
    @Test("delivery ids are lower-case UUIDs of version 8, the same for the same pair and different for others")
    func deliveryIDs() {
        let first = DeliveryID(of: MessageID("m1"), to: DeviceID("d1")).text
        #expect(first == DeliveryID(of: MessageID("m1"), to: DeviceID("d1")).text)
        let pattern = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(first.wholeMatch(of: pattern) != nil)
        var seen: Set<String> = []
        for message in 0..<100 {
            for device in 0..<100 {
                seen.insert(DeliveryID(of: MessageID("m\(message)"), to: DeviceID("d\(device)")).text)
            }
        }
        #expect(seen.count == 10_000)
        #expect(
            DeliveryID(of: MessageID("ab"), to: DeviceID("c"))
                != DeliveryID(of: MessageID("a"), to: DeviceID("bc"))
        )
    }
}
