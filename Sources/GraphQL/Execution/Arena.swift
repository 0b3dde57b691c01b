/// Values one after the other in memory of their own.
///
/// Noncopyable, so that adding and reading need no look at who else holds them.
struct Arena<Element>: ~Copyable {
    private(set) var count = 0
    private var capacity: Int
    private var memory: UnsafeMutablePointer<Element>

    /// An empty arena with room for at least one value.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
        memory = .allocate(capacity: self.capacity)
    }

    deinit {
        memory.deinitialize(count: count)
        memory.deallocate()
    }

    /// Where a value is, until the arena grows.
    @inline(__always)
    func at(_ index: Int) -> UnsafeMutablePointer<Element> {
        precondition(index >= 0 && index < count, "An arena has no value at this index.")
        return memory + index
    }

    /// Adds a value.
    @inline(__always)
    mutating func append(_ value: consuming Element) {
        if count == capacity { grow(by: 1) }
        (memory + count).initialize(to: value)
        count += 1
    }

    /// Adds the same value so many times; answers the index of the first.
    mutating func append(repeating value: Element, count more: Int) -> Int {
        let first = count
        if capacity - count < more { grow(by: more) }
        (memory + count).initialize(repeating: value, count: more)
        count += more
        return first
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        capacity = max(capacity * 2, count + more)
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }
}
