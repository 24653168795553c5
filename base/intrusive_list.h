#pragma once

// A doubly linked list through hooks in its elements: it does not allocate, and removes from the
// middle in O(1). The list does not own its elements. An element is in at most one list and must
// leave it before it dies.

namespace sheaf {

template <class T>
class IntrusiveList;

template <class T>
class ListHook {
 public:
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
  bool linked() const noexcept { return list_ != nullptr; }

 private:
  friend class IntrusiveList<T>;
  T* previous_ = nullptr;
  T* next_ = nullptr;
  IntrusiveList<T>* list_ = nullptr;
};

template <class T>
class IntrusiveList {
 public:
  IntrusiveList() = default;
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool empty() const noexcept { return front_ == nullptr; }
  unsigned size() const noexcept { return size_; }
  T* front() const noexcept { return front_; }
  T* next(const T& element) const noexcept { return hook(element).next_; }
  bool contains(const T& element) const noexcept { return hook(element).list_ == this; }

  void push_back(T& element) noexcept {
    ListHook<T>& own = hook(element);
    own.list_ = this;
    own.previous_ = back_;
    own.next_ = nullptr;
    (back_ != nullptr ? hook(*back_).next_ : front_) = &element;
    back_ = &element;
    ++size_;
  }
  void remove(T& element) noexcept {
    ListHook<T>& own = hook(element);
    if (own.list_ != this) return;
    (own.previous_ != nullptr ? hook(*own.previous_).next_ : front_) = own.next_;
    (own.next_ != nullptr ? hook(*own.next_).previous_ : back_) = own.previous_;
    own.list_ = nullptr;
    --size_;
  }
  // `other`, which is in no list, takes the place of an element.
  void replace(T& element, T& other) noexcept {
    ListHook<T>& own = hook(other);
    own.list_ = this;
    own.previous_ = hook(element).previous_;
    own.next_ = hook(element).next_;
    (own.previous_ != nullptr ? hook(*own.previous_).next_ : front_) = &other;
    (own.next_ != nullptr ? hook(*own.next_).previous_ : back_) = &other;
    hook(element).list_ = nullptr;
  }
  T* pop_front() noexcept {
    T* first = front_;
    if (first != nullptr) remove(*first);
    return first;
  }

 private:
  static ListHook<T>& hook(T& element) noexcept { return element; }
  static const ListHook<T>& hook(const T& element) noexcept { return element; }

  T* front_ = nullptr;
  T* back_ = nullptr;
  unsigned size_ = 0;
};

}  // namespace sheaf
