#include "collector/python/heap.h"

#include <dlfcn.h>
#include <sys/types.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collector/no_throw.h"

namespace oom_forensics::collector::python {
namespace {

using Visit = int (*)(Object* object, void* argument);
using Traverse = int (*)(Object* object, Visit visit, void* argument);

// Py_tp_traverse of CPython's typeslots.h.
constexpr int kTraverseSlot = 71;

// CPython's functions and classes, which have these types in its headers.
struct Functions {
  Object* (*call)(Object* function) = nullptr;
  Object* (*new_list)(ssize_t size) = nullptr;
  ssize_t (*list_size)(Object* list) = nullptr;
  Object* (*list_item)(Object* list, ssize_t at) = nullptr;
  int (*append)(Object* list, Object* item) = nullptr;
  ssize_t (*tuple_size)(Object* tuple) = nullptr;
  Object* (*tuple_item)(Object* tuple, ssize_t at) = nullptr;
  void (*release)(Object* object) = nullptr;
  Object* (*no_memory)() = nullptr;
  void (*bad_call)() = nullptr;
  Object* (*new_bytes)(const char* bytes, ssize_t size) = nullptr;
  Object* (*new_int)(unsigned long long value) = nullptr;
  int (*is_tracked)(Object* object) = nullptr;
  int (*is_derived)(const void* type, const void* base) = nullptr;
  void* (*slot)(const void* type, int slot) = nullptr;
  Object* (*closure)(Object* function) = nullptr;
  Object* (*defaults)(Object* function) = nullptr;
  Object* (*keyword_defaults)(Object* function) = nullptr;
  const void* list_type = nullptr;
  const void* tuple_type = nullptr;
  const void* function_type = nullptr;
  // Whether objects are as ReferencesOf() and TypeOf() read them; from 3.14 on
  // a function tells their references.
  bool has_known_layout = false;
};

template <typename Function>
void Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

const Functions& Python() noexcept {
  static const Functions functions = [] {
    Functions found;
    Find("PyObject_CallNoArgs", &found.call);
    Find("PyList_New", &found.new_list);
    Find("PyList_Size", &found.list_size);
    Find("PyList_GetItem", &found.list_item);
    Find("PyList_Append", &found.append);
    Find("PyTuple_Size", &found.tuple_size);
    Find("PyTuple_GetItem", &found.tuple_item);
    Find("Py_DecRef", &found.release);
    Find("PyErr_NoMemory", &found.no_memory);
    Find("PyErr_BadInternalCall", &found.bad_call);
    Find("PyBytes_FromStringAndSize", &found.new_bytes);
    Find("PyLong_FromUnsignedLongLong", &found.new_int);
    Find("PyObject_GC_IsTracked", &found.is_tracked);
    Find("PyType_IsSubtype", &found.is_derived);
    Find("PyType_GetSlot", &found.slot);
    Find("PyFunction_GetClosure", &found.closure);
    Find("PyFunction_GetDefaults", &found.defaults);
    Find("PyFunction_GetKwDefaults", &found.keyword_defaults);
    found.list_type = dlsym(RTLD_DEFAULT, "PyList_Type");
    found.tuple_type = dlsym(RTLD_DEFAULT, "PyTuple_Type");
    found.function_type = dlsym(RTLD_DEFAULT, "PyFunction_Type");
    found.has_known_layout = dlsym(RTLD_DEFAULT, "Py_REFCNT") == nullptr;
    return found;
  }();
  return functions;
}

// The first two words of an object, from 3.10 to 3.13.
ssize_t ReferencesOf(const Object* object) {
  return reinterpret_cast<const ssize_t*>(object)[0];
}
const void* TypeOf(const Object* object) {
  return reinterpret_cast<const void* const*>(object)[1];
}

uint64_t IdOf(const Object* object) {
  return reinterpret_cast<uintptr_t>(object);
}

// An object that belongs to nobody else.
class Owned {
 public:
  explicit Owned(Object* object) : object_(object) {}
  ~Owned() {
    if (object_ != nullptr) Python().release(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Object* get() const { return object_; }
  Object* release() { return std::exchange(object_, nullptr); }

 private:
  Object* object_;
};

// Whether there is one reference to a tuple beside that of the list of all
// objects: it may be C's, which is filling the tuple.
bool MayBeUnfinished(const Object* object) {
  return TypeOf(object) == Python().tuple_type && ReferencesOf(object) <= 2;
}

// Which of some classes an object is of, asked once for each class.
class Kinds {
 public:
  explicit Kinds(Object* classes) : classes_(classes) {}

  // Counted from 1; 0: none.
  uint8_t Of(const Object* object) {
    const auto [at, is_new] = known_.emplace(TypeOf(object), 0);
    if (is_new) at->second = Find(at->first);
    return at->second;
  }

 private:
  uint8_t Find(const void* type) const {
    const Functions& python = Python();
    for (ssize_t at = 0; at < python.tuple_size(classes_); ++at) {
      if (python.is_derived(type, python.tuple_item(classes_, at)) != 0) {
        return static_cast<uint8_t>(at + 1);
      }
    }
    return 0;
  }

  Object* const classes_;
  std::unordered_map<const void*, uint8_t> known_;
};

// The objects of the list `of_all` with the next ids that `is_wanted`, in their
// order, but for `result`: a list in itself would never end.
template <typename IsWanted>
std::vector<Object*> Select(Object* of_all, const Object* result,
                            uint64_t after, uint64_t most, IsWanted is_wanted) {
  const Functions& python = Python();
  std::vector<Object*> selected;
  for (ssize_t at = 0; at < python.list_size(of_all); ++at) {
    Object* const object = python.list_item(of_all, at);
    if (object != result && IdOf(object) > after && is_wanted(object)) {
      selected.push_back(object);
    }
  }
  if (selected.size() > most) {
    std::nth_element(selected.begin(), selected.begin() + most, selected.end());
    selected.resize(most);
  }
  std::sort(selected.begin(), selected.end());
  return selected;
}

// The new list that `make(of_all, result)` fills from the list of all objects,
// if it can.
template <typename Make>
Object* OfAll(Object* get_objects, Make make) noexcept {
  const Functions& python = Python();
  // A list made later could begin a garbage collection, and that run code of
  // Python's.
  Owned result(python.new_list(0));
  if (result.get() == nullptr) return nullptr;
  if (!python.has_known_layout || TypeOf(result.get()) != python.list_type) {
    python.bad_call();
    return nullptr;
  }
  const Owned of_all(python.call(get_objects));
  if (of_all.get() == nullptr) return nullptr;
  bool is_whole = false;
  NoThrow([&] { is_whole = make(of_all.get(), result.get()); });
  return is_whole ? result.release() : python.no_memory();
}

bool AppendAll(const std::vector<Object*>& objects, Object* list) {
  return std::all_of(objects.begin(), objects.end(), [&](Object* object) {
    return Python().append(list, object) == 0;
  });
}

bool AppendNew(Object* item, Object* list) {
  const Owned owned(item);
  return item != nullptr && Python().append(list, item) == 0;
}

template <typename Value>
bool AppendBytes(const std::vector<Value>& values, Object* list) {
  return AppendNew(
      Python().new_bytes(reinterpret_cast<const char*>(values.data()),
                         static_cast<ssize_t>(values.size() * sizeof(Value))),
      list);
}

struct References {
  std::vector<uint64_t> ids;
  uint64_t most = 0;
};

// Called by C, which no exception may cross; 1 ends the visits.
int AddReference(Object* object, void* argument) noexcept {
  auto& references = *static_cast<References*>(argument);
  // Numbers and texts above all: they lead nowhere.
  if (Python().is_tracked(object) == 0) return 0;
  if (references.ids.size() >= references.most) return 1;
  return NoThrow([&] { references.ids.push_back(IdOf(object)); }) ? 0 : 1;
}

bool HoldsNothing(Object* object) {
  const Functions& python = Python();
  return TypeOf(object) == python.function_type &&
         python.closure(object) == nullptr &&
         python.defaults(object) == nullptr &&
         python.keyword_defaults(object) == nullptr;
}

std::unordered_set<const void*> ItemsOf(Object* tuple) {
  const Functions& python = Python();
  std::unordered_set<const void*> items;
  for (ssize_t at = 0; at < python.tuple_size(tuple); ++at) {
    items.insert(python.tuple_item(tuple, at));
  }
  return items;
}

// How objects of each class are gone through, asked once for each.
class Traverses {
 public:
  Traverse Of(const Object* object) {
    const auto [at, is_new] = known_.emplace(TypeOf(object), nullptr);
    if (is_new) {
      at->second =
          reinterpret_cast<Traverse>(Python().slot(at->first, kTraverseSlot));
    }
    return at->second;
  }

 private:
  std::unordered_map<const void*, Traverse> known_;
};

}  // namespace

Object* NextObjects(Object* get_objects, Object* kinds, uint64_t after,
                    uint64_t most) noexcept {
  return OfAll(get_objects, [&](Object* of_all, Object* result) {
    Kinds wanted(kinds);
    return AppendAll(Select(of_all, result, after, most,
                            [&](const Object* object) {
                              return wanted.Of(object) != 0 &&
                                     !MayBeUnfinished(object);
                            }),
                     result);
  });
}

Object* ObjectsWithIds(Object* get_objects, const uint64_t* ids,
                       uint64_t ids_count, const uint64_t* finished,
                       uint64_t finished_count) noexcept {
  const auto has = [](const uint64_t* sorted, uint64_t count,
                      const Object* object) {
    return std::binary_search(sorted, sorted + count, IdOf(object));
  };
  return OfAll(get_objects, [&](Object* of_all, Object* result) {
    return AppendAll(Select(of_all, result, 0, ids_count,
                            [&](const Object* object) {
                              return has(ids, ids_count, object) &&
                                     (!MayBeUnfinished(object) ||
                                      has(finished, finished_count, object));
                            }),
                     result);
  });
}

Object* ReadReferences(Object* get_objects, Object* kinds, Object* passed_over,
                       uint64_t after, uint64_t most,
                       uint64_t most_references) noexcept {
  return OfAll(get_objects, [&](Object* of_all, Object* result) {
    Kinds kind(kinds);
    const std::unordered_set<const void*> left_out = ItemsOf(passed_over);
    Traverses traverse;
    std::vector<uint64_t> ids;
    std::vector<uint8_t> kinds_of_ids;
    std::vector<uint64_t> ends;
    References references;
    references.most = most_references;
    uint64_t last = 0;
    for (Object* const object : Select(of_all, result, after, most,
                                       [](const Object*) { return true; })) {
      last = IdOf(object);
      if (left_out.count(TypeOf(object)) != 0 || HoldsNothing(object)) continue;
      const Traverse visit_all = traverse.Of(object);
      if (visit_all == nullptr) continue;
      visit_all(object, AddReference, &references);
      ids.push_back(last);
      kinds_of_ids.push_back(kind.Of(object));
      ends.push_back(references.ids.size());
    }
    return AppendNew(Python().new_int(last), result) &&
           AppendBytes(ids, result) && AppendBytes(kinds_of_ids, result) &&
           AppendBytes(ends, result) && AppendBytes(references.ids, result);
  });
}

}  // namespace oom_forensics::collector::python
