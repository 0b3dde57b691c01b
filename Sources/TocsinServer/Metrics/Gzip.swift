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

    /// What was packed; nil where it is broken, or has more than so many bytes.
    static func unpacked(_ bytes: [UInt8], maximumBytes: Int) -> [UInt8]? {
        // Nothing is written beyond what there is: memory that is not touched costs nothing.
        var isWhole = false
        let unpacked = [UInt8](unsafeUninitializedCapacity: maximumBytes + 1) { target, count in
            let written = tocsin_gunzip(bytes, bytes.count, target.baseAddress, maximumBytes + 1)
            // What is broken comes back as the largest size there is, which is no size of ours.
            isWhole = (0...maximumBytes).contains(written)
            count = isWhole ? written : 0
        }
        return isWhole ? unpacked : nil
    }
}
