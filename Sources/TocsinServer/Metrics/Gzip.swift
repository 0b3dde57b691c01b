import CZlib

/// Packs answers for those who take them so (RFC 1952).
enum Gzip {
    /// nil where there is no memory for it.
    static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        let room = tocsin_gzip_bound(bytes.count)
        let packed = [UInt8](unsafeUninitializedCapacity: room) { target, count in
            count = tocsin_gzip(bytes, bytes.count, target.baseAddress, room)
        }
        return packed.isEmpty ? nil : packed
    }
}
